import { LIMITS } from '../limits.ts';

/** The losses that one account's callers have caused in one hour. The next hour starts at zero. */
export interface LossHour {
  /** Hours since 1970. */
  readonly lossHour: number;
  readonly lostNanousd: bigint;
}

export const NO_LOSS: LossHour = { lossHour: 0, lostNanousd: 0n };

/** What counts now. An hour never moves back with the clock, or the same losses could be caused twice. */
export function lossAt({ lossHour, lostNanousd }: LossHour, nowMs: number): LossHour {
  const hour = Math.floor(nowMs / LIMITS.lossWindowMs);
  return hour <= lossHour ? { lossHour, lostNanousd } : { lossHour: hour, lostNanousd: 0n };
}

/** The account's losses with this one; null if they would exceed the limit. */
export function addLoss(before: LossHour, nowMs: number, nanousd: bigint, limitNanousd: bigint): LossHour | null {
  const { lossHour, lostNanousd } = lossAt(before, nowMs);
  return lostNanousd + nanousd > limitNanousd ? null : { lossHour, lostNanousd: lostNanousd + nanousd };
}
