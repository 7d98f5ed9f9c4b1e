import { z } from 'zod';

const CONCURRENCY_MAX = 10_000;

export const jobsSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe('Run deferred jobs in this process; false leaves them to other processes.'),
  concurrency: z
    .int()
    .min(1)
    .max(CONCURRENCY_MAX)
    .default(16)
    .describe('Deferred jobs that this process runs at once. They use at most half of `calls_per_host`.'),
  per_account: z
    .int()
    .min(1)
    .max(CONCURRENCY_MAX)
    .default(8)
    .describe('Deferred jobs of one account that this process runs at once.'),
});

export interface ConfigJobs {
  readonly enabled: boolean;
  readonly concurrency: number;
  readonly perAccount: number;
}

export function readJobs({ enabled, concurrency, per_account }: z.infer<typeof jobsSchema>): ConfigJobs {
  return { enabled, concurrency, perAccount: per_account };
}
