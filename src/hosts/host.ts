import type { Capability } from '../canonical/capability.ts';
import type { HostWire } from '../canonical/wire-names.ts';
import type { PriceRow } from '../catalog/schema.ts';
import type { Secret } from '../kit/secret.ts';
import type { HostProxy } from './proxy.ts';

/** The fields that identify a caller's user; a host is sent only those its row names. */
export const LABEL_FIELDS = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'session_id'] as const;
export type LabelField = (typeof LABEL_FIELDS)[number];

export interface HostAuth {
  readonly header: 'authorization' | 'api-key' | 'x-api-key';
  /** The word before the key; null sends the key alone. */
  readonly scheme: 'Bearer' | null;
}

/** Where a host departs from its wire; the wire's own folder holds what each word means. */
export interface HostSlots {
  /** The rule by which its counts are read. */
  readonly readUsage?: string;
  /** Fields of a request that it answers with an error, and does not need. */
  readonly omits?: readonly string[];
  /** Fields that every request to it carries, because silence means something else to it. */
  readonly adds?: Readonly<Record<string, string | number | boolean>>;
  /** It does not know the role "developer" and is told "system". */
  readonly developerAsSystem?: boolean;
  /** The name by which it takes the traces of earlier turns back, or that it takes none; absent: as the caller wrote them. */
  readonly traces?: 'reasoning' | 'reasoning_content' | 'none';
  /**
   * Whose sealed reasoning it makes and takes back, where that is not its wire's own vendor: kept apart under this name,
   * given to no other host. `any`: a reseller, which passes seals on to whoever made them.
   */
  readonly seals?: string;
}

/** Where a host is found that has no common address: the first of these variables that is set names it. */
export interface HostAddress {
  readonly variables: readonly string[];
  /** What its address ends in, as `/v1`; added where it is missing. */
  readonly path: string;
  /** For a bare host name, as people write it for servers of their own; null: a scheme is needed. */
  readonly port: number | null;
}

/** A server that people run themselves: it says what it serves, and that is free unless it is priced. */
export interface LocalServer {
  /** The loopback port it is looked for in local mode; null: it is never looked for. */
  readonly port: number | null;
  /** What it writes into `owned_by` of its models, where the port alone proves nothing. */
  readonly owner: string | null;
}

/** A host is a row of data: everything that code would otherwise ask its name for stands here. */
export interface HostRow {
  readonly name: string;
  /** Without a slash at the end, as `https://host.example/v1`; empty where `address` has yet to say it. */
  readonly baseUrl: string;
  readonly address?: HostAddress;
  readonly local?: LocalServer;
  /** Asks others for the model, so among equal prices whoever serves it directly goes first. */
  readonly reseller?: true;
  /** The wires it speaks, the one to translate to first. */
  readonly wires: readonly HostWire[];
  readonly auth: HostAuth;
  /** Environment variables that may hold the key, the first one set wins; each also as `<NAME>_FILE`. Empty: no key is needed. */
  readonly keyVariables: readonly string[];
  /** Cuts embeddings to the wanted length itself. */
  readonly reducesVectors: boolean;
  readonly outputLimitField: 'max_tokens' | 'max_completion_tokens';
  readonly forwards: readonly LabelField[];
  /** A caller hung up: hear the host out for its own usage, or cut it off and estimate. */
  readonly onClientGone: 'drain' | 'cancel';
  readonly simulated: boolean;
  readonly slots: HostSlots;
}

/** What a configured host serves: the catalog's id of a model, and the host's own name for it. */
export interface ServedModel {
  readonly id: string;
  readonly model: string;
  /** For a model the catalog does not know. */
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly caps?: readonly Capability[];
  /** The wire on which the host serves it, where that is not its first. */
  readonly wire?: HostWire;
  /** What the host charges for it. */
  readonly price?: PriceRow;
}

/** A host that can be called: its row, and the key if it needs one. */
export interface ConfiguredHost {
  readonly row: HostRow;
  readonly key: Secret | null;
  /** Where the key came from, for people: the variable's name or the config field. */
  readonly keySource: string | null;
  /** On the operator's own machines: what only such hosts serve is free unless it is priced. */
  readonly local: boolean;
  /** Models the operator listed beside the host; the catalog may know of more. */
  readonly models: readonly ServedModel[];
  /** Models the host itself listed when it was asked; absent: it was not. */
  readonly found?: readonly ServedModel[];
  /** Absent: it is reached directly. */
  readonly proxy?: HostProxy;
}
