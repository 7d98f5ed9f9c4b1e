import type { Capability } from '../canonical/capability.ts';
import type { HostQuirks } from '../canonical/host-quirks.ts';
import type { HostWire } from '../canonical/wire-names.ts';
import type { PriceRow } from '../catalog/schema.ts';
import type { Secret } from '../kit/secret.ts';
import type { HostProxy } from './proxy.ts';

/** Fields that identify a caller's user. A host receives only those that its row names. */
export const LABEL_FIELDS = [
  'user',
  'metadata',
  'client_metadata',
  'safety_identifier',
  'prompt_cache_key',
  'session_id',
] as const;
type LabelField = (typeof LABEL_FIELDS)[number];

interface HostAuth {
  readonly header: 'authorization' | 'api-key' | 'x-api-key';
  /** The word before the key; null sends the key alone. */
  readonly scheme: 'Bearer' | null;
}

/** For a host whose address differs for each customer: it is in the first of these variables that is set. */
export interface HostAddress {
  readonly variables: readonly string[];
  /** The end of its address, like `/v1`; appended if it is missing. */
  readonly path: string;
  /** Default port for a bare host name; null: a scheme is required. */
  readonly port: number | null;
}

/** A server that people run themselves. It lists its models, which are free unless they are priced. */
export interface LocalServer {
  /** The loopback port on which local mode looks for it; null: never. */
  readonly port: number | null;
  /** Its `owned_by` value, for a port that other programs use too. */
  readonly owner: string | null;
}

/** A host is a row of data, so that code never branches on its name. */
export interface HostRow {
  readonly name: string;
  /** Without a trailing slash, like `https://host.example/v1`; empty until `address` is read. */
  readonly baseUrl: string;
  readonly address?: HostAddress;
  readonly local?: LocalServer;
  /** Buys the model from others, so at equal prices direct hosts come first. */
  readonly reseller?: true;
  /** The wires it speaks; requests are translated to the first. */
  readonly wires: readonly HostWire[];
  readonly auth: HostAuth;
  /** Environment variables for the key; the first that is set wins, each also as `<NAME>_FILE`. Empty: no key needed. */
  readonly keyVariables: readonly string[];
  /** Supports `dimensions` for embeddings. */
  readonly reducesVectors: boolean;
  readonly outputLimitField: 'max_tokens' | 'max_completion_tokens';
  readonly forwards: readonly LabelField[];
  /** When the caller disconnects: read the host's response to its end for the usage, or cancel it and estimate. */
  readonly onClientGone: 'drain' | 'cancel';
  readonly simulated: boolean;
  readonly quirks: HostQuirks;
}

/** A model that a configured host serves: the catalog's id, and the host's name for it. */
export interface ServedModel {
  readonly id: string;
  readonly model: string;
  /** For a model that is not in the catalog. */
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly caps?: readonly Capability[];
  /** The wire for this model, if not the host's first. */
  readonly wire?: HostWire;
  /** What the host charges. */
  readonly price?: PriceRow;
}

/** A host that can be called: its row, and its key if it needs one. */
export interface ConfiguredHost {
  readonly row: HostRow;
  readonly key: Secret | null;
  /** Where the key came from: a variable's name or a config field. */
  readonly keySource: string | null;
  /** On the operator's own machine: models that only such hosts serve are free unless they are priced. */
  readonly local: boolean;
  /** Models that the operator listed for the host; the catalog may have more. */
  readonly models: readonly ServedModel[];
  /** Models that the host listed itself; absent if it was not asked. */
  readonly found?: readonly ServedModel[];
  /** Absent: called directly. */
  readonly proxy?: HostProxy;
}

/** The header that carries a host's key. */
export function keyHeader({ auth: { header, scheme } }: HostRow, key: string): Record<string, string> {
  return { [header]: scheme === null ? key : `${scheme} ${key}` };
}
