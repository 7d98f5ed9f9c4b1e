import { z } from 'zod';

const MEGABYTE = 1024 * 1024;
const NANOUSD_MAX = 1_000_000_000_000_000;

export const alertsSchema = z.strictObject({
  balance_below_nanousd: z
    .int()
    .min(1)
    .max(NANOUSD_MAX)
    .nullable()
    .default(null)
    .describe(
      'Alert when the balance of an account falls below this, in nanodollars. Null: only accounts that ask for it.',
    ),
  cap_percent: z
    .int()
    .min(1)
    .max(99)
    .nullable()
    .default(80)
    .describe('Alert when a key or a person has spent this share of the cap, and again when it is used up. Null: off.'),
  losses_per_hour_nanousd: z
    .int()
    .min(1)
    .max(NANOUSD_MAX)
    .nullable()
    .default(10_000_000_000)
    .describe(
      'Alert when hosts may bill more than this in an hour without a caller being charged for it, in nanodollars. Null: off.',
    ),
  disk_free_mb: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullable()
    .default(1024)
    .describe('Alert when the disk of the data folder has less free space than this, in megabytes. Null: off.'),
});

export interface ConfigAlerts {
  readonly balanceBelowNanousd: number | null;
  readonly capPercent: number | null;
  readonly lossesPerHourNanousd: number | null;
  readonly diskFreeBytes: number | null;
}

export function readAlerts(draft: z.infer<typeof alertsSchema>): ConfigAlerts {
  return {
    balanceBelowNanousd: draft.balance_below_nanousd,
    capPercent: draft.cap_percent,
    lossesPerHourNanousd: draft.losses_per_hour_nanousd,
    diskFreeBytes: draft.disk_free_mb === null ? null : draft.disk_free_mb * MEGABYTE,
  };
}
