import type { Heartbeat } from '../../src/ledger/heartbeat.ts';
import type { Job } from '../../src/store/jobs.ts';
import type { LedgerOperation, LedgerOutcome, Store } from '../../src/store/store.ts';
import { aFinish, aGroup, aJob, aRelease, aReserve, aStart } from '../../test/job-fixtures.ts';
import type { Random } from '../../test/random.ts';
import { ACCOUNTS, keyOf, keysOf } from './terms.ts';

const LEASE_MS = 60_001;
const JOBS_MAX = 6;

export interface JobRoundTerms {
  readonly store: Store;
  readonly heartbeat: Heartbeat;
  readonly random: Random;
  apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]>;
}

/** Submits a few jobs of one account, alone or as a group, then claims jobs of that account and runs or cancels them. */
export async function jobRound(terms: JobRoundTerms): Promise<void> {
  const accountId = BigInt(terms.random.between(1, ACCOUNTS));
  await submit(terms, accountId);
  const nowMs = Date.now();
  const claimed = await terms.store.jobs.claim(accountId, nowMs, LEASE_MS, JOBS_MAX);
  const [cancelled, run] = [claimed.filter(() => terms.random.chance(0.2)), [] as Job[]];
  run.push(...claimed.filter((job) => !cancelled.includes(job)));
  await terms.apply(cancelled.map(({ id, claim }) => aRelease(id, { accountId, claim })));
  const starts = run.map((job) => startOf(terms, job, nowMs));
  const outcomes = await terms.apply(starts);
  const ends = run.flatMap((job, at) =>
    outcomes[at]?.kind === 'held' ? [endOf(terms, job, starts[at]!.id, nowMs)] : [],
  );
  await terms.apply(ends);
}

async function submit({ store, heartbeat, random, apply }: JobRoundTerms, accountId: bigint): Promise<void> {
  const keyId = keyOf(accountId, random.below(keysOf(accountId)));
  const owner = { accountId, keyId };
  const groupId = random.chance(0.3) ? heartbeat.ids.next() : null;
  const createdMs = Date.now();
  const times = { createdMs, expiresMs: createdMs + 3_600_000 };
  const rows = Array.from({ length: random.between(1, JOBS_MAX) }, (_, at) => {
    const onUnknown = random.chance(0.5) ? 'retry' : 'fail';
    const amount = BigInt(random.between(0, 2_000));
    const line = groupId === null ? 0 : at + 1;
    return aJob(heartbeat.ids.next(), amount, { ...owner, ...times, groupId, line, onUnknown });
  });
  if (groupId !== null) await store.jobs.createGroup(aGroup(groupId, { ...owner, createdMs }));
  await store.jobs.stage(rows, []);
  if (groupId === null) {
    await apply(rows.map(({ id, reservedNanousd }) => aReserve(id, reservedNanousd, owner)));
    return;
  }
  const sum = rows.reduce((total, { reservedNanousd }) => total + reservedNanousd, 0n);
  const [outcome] = await apply([aReserve(groupId, sum, { ...owner, isGroup: true })]);
  if (outcome?.kind === 'reserved') while ((await store.jobs.activate(groupId)) > 0);
  else await store.jobs.dropStaged(groupId);
}

function startOf({ heartbeat }: JobRoundTerms, job: Job, createdMs: number) {
  const { accountId, keyId } = job;
  const call = { accountId, keyId, epoch: heartbeat.epoch, createdMs };
  return aStart(heartbeat.ids.next(), job.id, job.reservedNanousd, call, job.claim);
}

/** Charged, failed, put back, or lost with its process. */
function endOf({ random }: JobRoundTerms, job: Job, callId: bigint, nowMs: number): LedgerOperation {
  const turn = random.next();
  if (turn < 0.2) return { kind: 'void', id: callId, reason: 'The campaign lost it.' };
  if (turn < 0.4) return aFinish(callId, job.id, 0n, 'queued', { dueMs: nowMs });
  if (turn < 0.5) return aFinish(callId, job.id, 0n, 'failed');
  return aFinish(callId, job.id, BigInt(random.between(0, Number(job.reservedNanousd))));
}

/** Cancels what still waits, so that nothing may be reserved any more. */
export async function cancelWaiting(store: Store): Promise<void> {
  for (let id = 1n; id <= BigInt(ACCOUNTS); id++) {
    for (;;) {
      const waiting = await store.jobs.waitingOf({ accountId: id }, 200);
      if (waiting.length === 0) break;
      await store.apply(waiting.map((job) => aRelease(job.id, { accountId: id })));
    }
  }
}
