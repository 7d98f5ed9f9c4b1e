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

/** A URL we do not call; the message is for the caller who gave it: what is wrong, and what would do. */
export class ForbiddenUrl extends Error {
  readonly reason: ForbiddenReason;

  constructor(reason: ForbiddenReason, message: string) {
    super(message);
    this.name = 'ForbiddenUrl';
    this.reason = reason;
  }
}

/** What became of a request to a URL that was let pass. */
export type EgressFault = 'unreachable' | 'certificate' | 'timeout' | 'redirect' | 'too_large' | 'broken';

/** An answer that did not come, or is not taken; the message is fit for the caller whose URL it is. */
export class EgressFailure extends Error {
  readonly fault: EgressFault;

  constructor(fault: EgressFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EgressFailure';
    this.fault = fault;
  }
}
