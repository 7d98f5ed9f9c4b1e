import type { GatewayError } from './errors.ts';

export type HostErrorKind = 'request' | 'over_window' | 'rate' | 'credentials' | 'unavailable';

/** A classified error of a host. Its message goes to the caller only if its kind is about the caller's request. */
export interface HostError {
  readonly kind: HostErrorKind;
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
  readonly param: string | null;
  /** The error for the caller, if it is already decided: the provider is the caller's own. */
  readonly forCaller?: GatewayError;
}

/** Whether a host's code is a word, as codes are, and no quotation. */
export function isPlainCode(code: string): boolean {
  return /^[\w.-]{1,64}$/.test(code);
}
