/** Limits of a call; each can be set in the config file. */
export interface CallLimits {
  readonly firstFrameMs: number;
  readonly idleMs: number;
  readonly bufferedMs: number;
  readonly streamMs: number;
  readonly keepAliveMs: number;
  readonly stallMs: number;
  readonly drainMs: number;
  /** A call that would hold more than this by the bytes of its prompt has its tokens counted. */
  readonly countAboveNanousd: bigint;
  /** What an account's callers may cost the operator per hour by hanging up before any content; null is no limit. */
  readonly hangupAllowanceNanousd: bigint | null;
}
