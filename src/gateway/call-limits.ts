/** Limits of a call; each can be set in the config file. */
export interface CallLimits {
  readonly firstFrameMs: number;
  readonly idleMs: number;
  readonly bufferedMs: number;
  readonly streamMs: number;
  readonly keepAliveMs: number;
  readonly stallMs: number;
  readonly drainMs: number;
  /** If a hold computed from the bytes of a prompt would be higher than this, the tokens of the prompt are counted. */
  readonly countAboveNanousd: bigint;
  /** What an account's callers may cost the operator per hour by hanging up before any content; null is no limit. */
  readonly hangupAllowanceNanousd: bigint | null;
}
