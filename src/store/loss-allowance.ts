import { LIMITS } from '../limits.ts';
import { INT64_MAX } from './int64.ts';

/** The losses that one account's callers have caused in one hour. The next hour starts at zero. */
export interface LossHour {
  /** Hours since 1970. */
  readonly lossHour: number;
  readonly lostNanousd: bigint;
}

export const NO_LOSS: LossHour = { lossHour: 0, lostNanousd: 0n };

/** The losses that count now. The hour never moves back with the clock; otherwise the same allowance could be used twice. */
export function lossAt({ lossHour, lostNanousd }: LossHour, nowMs: number): LossHour {
  const hour = Math.floor(nowMs / LIMITS.lossWindowMs);
  return hour <= lossHour ? { lossHour, lostNanousd } : { lossHour: hour, lostNanousd: 0n };
}

/** Whether the losses of this hour have reached the limit. */
export function isLossUsedUp(loss: LossHour, nowMs: number, limitNanousd: bigint): boolean {
  return lossAt(loss, nowMs).lostNanousd >= limitNanousd;
}

/** The account's losses with this one; null if they would exceed the limit. */
export function addLoss(before: LossHour, nowMs: number, nanousd: bigint, limitNanousd: bigint): LossHour | null {
  const { lossHour, lostNanousd } = lossAt(before, nowMs);
  return lostNanousd + nanousd > limitNanousd ? null : { lossHour, lostNanousd: lostNanousd + nanousd };
}

/** The account's losses with one that has already happened, whatever they are then. */
export function noteLoss(before: LossHour, nowMs: number, nanousd: bigint): LossHour {
  const { lossHour, lostNanousd } = lossAt(before, nowMs);
  const sum = lostNanousd + nanousd;
  return { lossHour, lostNanousd: sum < INT64_MAX ? sum : INT64_MAX };
}
