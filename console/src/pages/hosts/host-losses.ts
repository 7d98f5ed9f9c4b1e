import type { HostLosses } from '../../api/generated/routes.ts';

/** What a host may bill although no caller paid for it. */
export function sumOfLosses(losses: HostLosses['data']): bigint {
  return losses.reduce((sum, { loss_nanousd }) => sum + loss_nanousd, 0n);
}
