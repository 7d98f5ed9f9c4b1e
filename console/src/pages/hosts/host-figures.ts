import type { HostLosses, UsageRow } from '../../api/generated/routes.ts';

/** What went through the hosts. A host that is not in a report had nothing to report, but only if the report is known. */
export interface HostFigures {
  readonly usage: ReadonlyMap<string, UsageRow>;
  readonly isUsageKnown: boolean;
  readonly losses: ReadonlyMap<string, HostLosses['data']>;
  readonly areLossesKnown: boolean;
}

/** What callers paid for the calls of a host; null if it is not known. */
export function paidFor({ usage, isUsageKnown }: HostFigures, host: string): bigint | null {
  return isUsageKnown ? (usage.get(host)?.cost_nanousd ?? 0n) : null;
}

export function requestsThrough({ usage, isUsageKnown }: HostFigures, host: string): number | null {
  return isUsageKnown ? (usage.get(host)?.requests ?? 0) : null;
}

/** What a host may bill although no caller paid for it; null if it is not known. */
export function lostBy({ losses, areLossesKnown }: HostFigures, host: string): bigint | null {
  if (!areLossesKnown) return null;
  return (losses.get(host) ?? []).reduce((sum, { loss_nanousd }) => sum + loss_nanousd, 0n);
}
