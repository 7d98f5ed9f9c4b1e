import { runBadJobs } from '../../test/bad-jobs/run.ts';

const SHOWN_MAX = 20;

/** Sends bad submissions of jobs and groups; returns those that were not refused as they should be, and what they left behind. */
export async function badSubmissions(count: number, seed: number): Promise<readonly string[]> {
  const { sent, classes, complaints } = await runBadJobs(count, seed);
  process.stdout.write(`${sent} bad submissions of ${classes.size} kinds, ${complaints.length} complaints\n`);
  return complaints.slice(0, SHOWN_MAX);
}
