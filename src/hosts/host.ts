import type { Capability } from '../canonical/capability.ts';
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
export type LabelField = (typeof LABEL_FIELDS)[number];

export interface HostAuth {
  readonly header: 'authorization' | 'api-key' | 'x-api-key';
  /** The word before the key; null sends the key alone. */
  readonly scheme: 'Bearer' | null;
}

/** Where a host differs from its wire. The folder of the wire defines the values. */
export interface HostSlots {
  /** The rule for reading its token counts. */
  readonly readUsage?: string;
  /** Request fields that the host rejects and does not need. */
  readonly omits?: readonly string[];
  /** Fields that every request to it contains, because its default differs. */
  readonly adds?: Readonly<Record<string, string | number | boolean>>;
  /** It does not know the role "developer" and gets "system" instead. */
  readonly developerAsSystem?: boolean;
  /** The field in which it accepts reasoning of earlier turns; `none` if it accepts none; absent: unchanged. */
  readonly traces?: 'reasoning' | 'reasoning_content' | 'none';
  /** What it takes for the reasoning of an earlier turn that did not come back: it refuses tool loops without any. */
  readonly missingTrace?: string;
  /** The fields of the chat wire that switch its reasoning off, if the effort `none` does not. */
  readonly reasoningOff?: Readonly<Record<string, unknown>>;
  /**
   * Whose encrypted reasoning it produces and accepts, if not its wire's vendor's. Such reasoning is tagged with this name
   * and goes to no other host. `any`: a reseller, which passes it on to its origin.
   */
  readonly seals?: string;
  /** It signs tool calls and refuses earlier ones without a signature, unless they have this as their `extra_content`. */
  readonly unsignedCall?: Readonly<Record<string, unknown>>;
  /** It knows namespaces, custom tools and client-run tool search on the responses wire; other hosts get functions. */
  readonly clientTools?: boolean;
}

/** For a host without a common address: the first of these variables that is set. */
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
  readonly slots: HostSlots;
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
