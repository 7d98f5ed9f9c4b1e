/** What is wrong with a URL that a caller gave. */
export type ForbiddenReason =
  | 'malformed'
  | 'scheme'
  | 'credentials'
  | 'fragment'
  | 'port'
  | 'host_name'
  | 'unresolved'
  | 'address'
  | 'own_listener';

/** A URL that is not called. The message is for the caller: what is wrong, and what to use instead. */
export class ForbiddenUrl extends Error {
  readonly reason: ForbiddenReason;

  constructor(reason: ForbiddenReason, message: string) {
    super(message);
    this.name = 'ForbiddenUrl';
    this.reason = reason;
  }
}

/** How a request to an allowed URL failed. */
type EgressFault = 'unreachable' | 'certificate' | 'timeout' | 'redirect' | 'too_large' | 'broken';

/** An answer that did not arrive or was refused. The message is safe to show to the caller. */
export class EgressFailure extends Error {
  readonly fault: EgressFault;

  constructor(fault: EgressFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EgressFailure';
    this.fault = fault;
  }
}
