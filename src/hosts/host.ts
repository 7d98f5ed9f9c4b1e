import type { Secret } from '../kit/secret.ts';

/** The fields that identify a caller's user; a host is sent only those its row names. */
export const LABEL_FIELDS = ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'session_id'] as const;
export type LabelField = (typeof LABEL_FIELDS)[number];

export interface HostAuth {
  readonly header: 'authorization' | 'api-key' | 'x-api-key';
  /** The word before the key; null sends the key alone. */
  readonly scheme: 'Bearer' | null;
}

/** Where a host departs from its wire, by the names of rules that live in the wire's own folder. */
export interface HostSlots {
  readonly readUsage?: string;
}

/** A host is a row of data: everything that code would otherwise ask its name for stands here. */
export interface HostRow {
  readonly name: string;
  /** Without a slash at the end, as `https://host.example/v1`. */
  readonly baseUrl: string;
  /** The wires it speaks, the one to translate to first. */
  readonly wires: readonly string[];
  readonly auth: HostAuth;
  /** Environment variables that may hold the key, the first one set wins; each also as `<NAME>_FILE`. Empty: no key is needed. */
  readonly keyVariables: readonly string[];
  /** `exact` only where a recording test named after the host proves that its frames conform. */
  readonly relay: 'mended' | 'exact';
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
}
