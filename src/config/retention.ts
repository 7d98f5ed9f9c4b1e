import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';

export interface ConfigRetention {
  /** Null: receipts are never deleted. */
  readonly receiptsDays: number | null;
  /** Where receipts are archived before they are deleted; null: they are not archived. */
  readonly archiveFolder: string | null;
}

export const retentionSchema = z.strictObject({
  receipts_days: z
    .int()
    .min(32)
    .max(36_500)
    .nullable()
    .default(null)
    .describe('Delete settled receipts older than this, once a monthly closing covers them; null keeps all.'),
  archive_folder: z
    .string()
    .min(1)
    .max(LIMITS.filePathCharsMax)
    .optional()
    .describe(
      'Write receipts to files in this folder before they are deleted, whole months at a time; relative to this file.',
    ),
});

/** The folder is relative to the file. */
export function readRetention(retention: z.output<typeof retentionSchema>, file: string | null): ConfigRetention {
  const { receipts_days: receiptsDays, archive_folder: folder } = retention;
  const archiveFolder = folder === undefined ? null : resolve(file === null ? '.' : dirname(file), folder);
  return { receiptsDays, archiveFolder };
}
