import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import type { OperatorServices, Progress } from './services.ts';

export const progressChoice = z.strictObject({ verb: z.string().max(LIMITS.verbCharsMax) });

interface ProgressView {
  readonly object: 'progress';
  readonly verb: string;
  /** Both are null if the verb is not running, or has not reported yet. */
  readonly rows_read: number | null;
  readonly rows_total: number | null;
}

export async function followProgress<Result>(
  { live }: OperatorServices,
  verb: string,
  run: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  try {
    return await run((done) => live?.running.set(verb, done));
  } finally {
    live?.running.delete(verb);
  }
}

export async function showProgress(
  { live }: OperatorServices,
  { verb }: z.output<typeof progressChoice>,
): Promise<ProgressView> {
  const done = live?.running.get(verb);
  return { object: 'progress', verb, rows_read: done?.rowsRead ?? null, rows_total: done?.rowsTotal ?? null };
}
