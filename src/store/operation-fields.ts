import { type CALL_FIELDS, type Fields, nullable, optional, required, type ValuesOf } from '../canonical/receipt.ts';

/** Fields of operations that are not fields of the receipt: what the money rules need. */
export const HOLD_TERMS = {
  epoch: required('int64'),
  amountNanousd: required('amount'),
  ceilingNanousd: nullable('amount'),
  priceId: required('integer'),
  /**
   * Refuses the hold if the account's losses of this hour have reached this amount. Null or absent: they do not matter. An
   * unlimited account has no limit.
   */
  lossLimitNanousd: optional('amount'),
} as const satisfies Fields;

export const SETTLE_TERMS = {
  id: required('int64'),
  endedMs: required('integer'),
  /**
   * Settles only if the account's losses of this hour, including the loss below or else the call's hold, do not exceed
   * this amount. Null or absent: there is no limit. An unlimited account has none.
   */
  lossLimitNanousd: optional('amount'),
  /** A loss that the account's caller caused, added to its losses of this hour. Null or absent: none. */
  accountLossNanousd: optional('amount'),
} as const satisfies Fields;

export const VOID_FIELDS = {
  id: required('int64'),
  reason: required('text'),
} as const satisfies Fields;

export const CREDIT_FIELDS = {
  id: required('int64'),
  accountId: required('int64'),
  amountNanousd: required('amount'),
  reference: required('text'),
  note: nullable('text'),
  createdMs: required('integer'),
  /** The call that is refunded; null or absent for any other credit. */
  callId: optional('int64'),
} as const satisfies Fields;

/** Accepts a staged job or group. */
export const RESERVE_FIELDS = {
  /** The id of the job or the group. */
  id: required('int64'),
  isGroup: required('flag'),
  accountId: required('int64'),
  keyId: nullable('int64'),
  personId: nullable('int64'),
  /** What was staged: for a group, the sum of its lines. */
  amountNanousd: required('amount'),
  ceilingNanousd: nullable('amount'),
  keepKeyUntilMs: required('integer'),
} as const satisfies Fields;

/** How an attempt of a job ended. */
export const JOB_END_FIELDS = {
  jobId: required('int64'),
  end: required('text'),
  /** When a job that goes back to the queue is tried again. */
  dueMs: optional('integer'),
  errorCode: optional('text'),
  errorMessage: optional('text'),
  /** The stored answer, whose chunks are written already. */
  resultDigest: optional('text'),
  resultChunks: optional('integer'),
  resultBytes: optional('integer'),
} as const satisfies Fields;

/** Ends a job that waits. */
export const RELEASE_FIELDS = {
  /** The id of the job. */
  id: required('int64'),
  accountId: required('int64'),
  /** A job that had attempts fails with its last error instead of expiring. */
  end: required('text'),
  /** Releases the job only if no other process has claimed it since. */
  claim: optional('integer'),
  errorCode: optional('text'),
  errorMessage: optional('text'),
} as const satisfies Fields;

/** A row of the audit, which is written with the operation if that changes something. */
export const AUDIT_FIELDS = {
  id: required('int64'),
  atMs: required('integer'),
  actorKind: required('text'),
  actorId: nullable('int64'),
  actorName: required('text'),
  action: required('text'),
  subject: required('text'),
  accountId: nullable('int64'),
  before: nullable('text'),
  after: nullable('text'),
  address: nullable('text'),
} as const satisfies Fields;

type OptionalNames<All extends Fields> = {
  [Name in keyof All]: All[Name] extends { readonly optional: true } ? Name : never;
}[keyof All];

/** The same values where optional fields may be left out. */
export type GivenValues<All extends Fields> = Omit<ValuesOf<All>, OptionalNames<All>> &
  Partial<Pick<ValuesOf<All>, OptionalNames<All>>>;

/** A hold's description of its call. */
export type HeldCall = GivenValues<typeof CALL_FIELDS>;
