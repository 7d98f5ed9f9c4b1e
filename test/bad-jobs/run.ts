import type { Pool } from 'undici';
import type { KeyHolder } from '../bad-requests/bad-class.ts';
import { LACKING_MODELS } from '../bad-requests/models.ts';
import { judge, openPool, send } from '../bad-requests/send.ts';
import { type Harness, type KeyOptions, type MintedKey, startHarness } from '../harness.ts';
import { Random } from '../random.ts';
import type { BadJobClass } from './bad-job.ts';
import { BAD_JOBS } from './classes.ts';

const KEYS: Readonly<Record<Exclude<KeyHolder, 'nobody'>, KeyOptions>> = {
  penniless: { creditNanousd: 0n },
  capped: { capNanousd: 1n },
  restricted: { models: ['another-model'] },
};

interface BadJobsReport {
  readonly sent: number;
  /** Classes by name, with the number of times that each was sent. */
  readonly classes: ReadonlyMap<string, number>;
  readonly complaints: readonly string[];
}

/** Sends this many bad submissions, and returns those that were not refused as they must be or that left something behind. */
export async function runBadJobs(count: number, seed: number, senders = 4): Promise<BadJobsReport> {
  const local = await startHarness({ config: { models: LACKING_MODELS } });
  const hosted = await startHarness({ hosted: true });
  const keys = new Map<KeyHolder, MintedKey>();
  for (const [holder, options] of Object.entries(KEYS)) keys.set(holder as KeyHolder, await hosted.mint(options));
  const pools = { local: openPool(local.url), hosted: openPool(hosted.url) };
  const complaints: string[] = [];
  const classes = new Map<string, number>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      const row = BAD_JOBS[at % BAD_JOBS.length]!;
      classes.set(row.name, (classes.get(row.name) ?? 0) + 1);
      complaints.push(...(await sendOne(row, seed + at, pools, keys)).map((each) => `${row.name}: ${each}`));
    }
  };
  try {
    await Promise.all(Array.from({ length: senders }, work));
    complaints.push(...(await leftBehind(local)), ...(await leftBehind(hosted)));
  } finally {
    await Promise.all([pools.local.close(), pools.hosted.close()]);
    await Promise.all([local.stop(), hosted.stop()]);
  }
  return { sent: count, classes, complaints };
}

async function sendOne(
  row: BadJobClass,
  seed: number,
  pools: { readonly local: Pool; readonly hosted: Pool },
  keys: ReadonlyMap<KeyHolder, MintedKey>,
): Promise<string[]> {
  const request = row.make(new Random(seed));
  const secret = row.key === undefined ? undefined : keys.get(row.key)?.secret;
  const authorization = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const headers = { ...request.headers, ...authorization };
  const answer = await send(row.key === undefined ? pools.local : pools.hosted, { ...request, headers });
  const { complaints } = judge({ ...row, oneField: false }, request, answer);
  const { error } = JSON.parse(answer.text) as { error: { message: string } };
  const begins = request.begins ?? '';
  const isPlaced = error.message.startsWith(begins);
  return [...complaints, ...(isPlaced ? [] : [`the message does not begin with ${begins} but is ${error.message}`])];
}

/** Nothing is reserved, stored or listed, and nothing failed inside. */
async function leftBehind({ running, sim, log, expectCleanBooks }: Harness): Promise<string[]> {
  const { store } = running.books;
  await expectCleanBooks();
  const nowMs = Date.now();
  const jobs = await store.jobs.list({ accountId: null }, { after: null, limit: 10 });
  const { waiting, running: underWay } = await store.jobs.sums(nowMs);
  const faults = log.filter(({ level }) => level === 'error' || level === 'warn' || Number(level) >= 40);
  return [
    ...(sim.received() === 0 ? [] : ['A request reached the host.']),
    ...(jobs.length === 0 && waiting === 0 && underWay === 0 ? [] : [`${jobs.length} jobs are listed.`]),
    ...faults.map((fault) => `The log has ${JSON.stringify(fault)}`),
  ];
}
