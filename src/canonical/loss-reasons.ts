/** Why the operator may have to pay a host more than the caller was charged. They are labels of a metric. */
export const LOSS_REASONS = [
  'host_reported_more_than_bound',
  /** The prompt had more tokens than were counted for the hold, but no more than it has bytes. */
  'prompt_exceeded_count',
  /** The host reported invalid counts, so its bill is unknown. Worth an alert. */
  'host_usage_unusable',
  /** The host gave no final counts, so the charge is an estimate and its bill may be higher. */
  'host_may_bill_more_than_estimate',
  /** The caller got nothing and pays nothing, but a host may bill its work. */
  'host_may_bill_uncharged_work',
  /** One host's response was charged, but another host that failed before it may bill too. */
  'host_may_bill_failed_attempt',
  /** A reused connection closed before the response and the request was sent again: the host may bill both. */
  'host_may_bill_repeated_request',
  /** The hold had been voided when the call ended. The receipt has the reason for which it was voided. */
  'hold_voided',
] as const;
export type LossReason = (typeof LOSS_REASONS)[number];

/** Why a hold was voided. The loss is in the receipt alone: no process is left that could count it. */
export const VOID_REASONS = ['process_died', 'call_not_settled'] as const;
export type VoidReason = (typeof VOID_REASONS)[number];
