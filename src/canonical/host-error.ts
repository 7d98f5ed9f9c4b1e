import type { GatewayError } from './errors.ts';

export type HostErrorKind = 'request' | 'over_window' | 'rate' | 'credentials' | 'unavailable';

/** A host's error, understood; its words go to the caller only for kinds that are about the caller's request. */
export interface HostError {
  readonly kind: HostErrorKind;
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
  readonly param: string | null;
  /** What the caller is told, where that is settled already: the provider is the caller's own. */
  readonly forCaller?: GatewayError;
}
