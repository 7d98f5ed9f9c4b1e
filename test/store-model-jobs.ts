import fc from 'fast-check';
import { INT64_MAX } from '../src/store/int64.ts';
import { type JobEnd, ON_UNKNOWN, type ReleaseOperation } from '../src/store/jobs.ts';
import type { LedgerOperation, Store } from '../src/store/store.ts';
import { ALL_JOBS, aFinish, aGroup, aJob, aRelease, aReserve, aStart, LEASE_MS } from './job-fixtures.ts';

/** An operation on one of the jobs that were staged; which one, and its terms, are known only when it is applied. */
export type JobOperation = { readonly pick: number } & (
  | { readonly kind: 'reserveJob'; readonly ceilingNanousd: bigint | null; readonly key: string | null }
  | { readonly kind: 'startJob'; readonly callId: bigint; readonly isOutdated: boolean }
  | {
      readonly kind: 'finishJob';
      readonly end: JobEnd['end'];
      readonly cost: bigint;
      readonly resultBytes: number | null;
    }
  | { readonly kind: 'releaseJob'; readonly end: ReleaseOperation['end']; readonly sinceClaim: number | null }
  | { readonly kind: 'voidAttempt' }
);

export type JobStep =
  | {
      readonly step: 'stage';
      readonly accountId: bigint;
      readonly keyId: bigint | null;
      readonly amounts: readonly bigint[];
      readonly isGroup: boolean;
      readonly hours: number;
      readonly onUnknown: (typeof ON_UNKNOWN)[number];
    }
  | { readonly step: 'activate' }
  | { readonly step: 'claim'; readonly accountId: bigint }
  | { readonly step: 'cancelJob'; readonly pick: number }
  | { readonly step: 'postpone'; readonly pick: number; readonly hours: number; readonly isOutdated: boolean }
  | { readonly step: 'dropStaged'; readonly pick: number }
  | { readonly step: 'dropContent'; readonly pick: number; readonly accountId: bigint | null };

const pick = fc.nat(30);
/** Three of them still fit one column. */
const anyReserved = fc.oneof(
  { weight: 40, arbitrary: fc.bigInt(0n, 60n) },
  { weight: 1, arbitrary: fc.constant(INT64_MAX / 3n) },
);
const seldom = fc.nat(9).map((n) => n === 0);

export const anyJobOperation: fc.Arbitrary<JobOperation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('reserveJob' as const),
      pick,
      ceilingNanousd: fc.option(fc.bigInt(0n, 200n), { freq: 5 }),
      key: fc.option(fc.constantFrom('k1', 'k2'), { freq: 5 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('startJob' as const),
      pick,
      callId: fc.bigInt(26n, 60n),
      isOutdated: seldom,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('finishJob' as const),
      pick,
      end: fc.constantFrom('succeeded' as const, 'failed' as const, 'cancelled' as const, 'queued' as const),
      cost: fc.oneof(fc.constant(0n), fc.bigInt(0n, 60n)),
      resultBytes: fc.option(fc.nat(100)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('releaseJob' as const),
      pick,
      end: fc.constantFrom('cancelled' as const, 'expired' as const, 'failed' as const),
      sinceClaim: fc.option(fc.constantFrom(0, 0, 1)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('voidAttempt' as const), pick }) },
);

export const anyJobStep: fc.Arbitrary<JobStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      step: fc.constant('stage' as const),
      accountId: fc.bigInt(1n, 3n),
      keyId: fc.option(fc.bigInt(1n, 3n)),
      amounts: fc.array(anyReserved, { minLength: 1, maxLength: 3 }),
      isGroup: fc.boolean(),
      hours: fc.integer({ min: -20, max: 40 }),
      onUnknown: fc.constantFrom(...ON_UNKNOWN),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('activate' as const) }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('claim' as const), accountId: fc.bigInt(1n, 3n) }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('cancelJob' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('postpone' as const),
      pick,
      hours: fc.integer({ min: -5, max: 30 }),
      isOutdated: seldom,
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('dropStaged' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('dropContent' as const), pick, accountId: fc.option(fc.bigInt(1n, 3n)) }),
  },
);

/** What was staged, in order, and what it takes to accept it. */
interface Staged {
  readonly id: bigint;
  readonly isGroup: boolean;
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
  readonly amountNanousd: bigint;
}

/** The jobs of one engine; engines that take the same steps have the same jobs. */
export class WalkerJobs {
  readonly #staged: Staged[] = [];
  readonly #jobIds: bigint[] = [];
  #nextId = 201n;

  async take(store: Store, step: JobStep, nowMs: number): Promise<unknown> {
    if (step.step === 'stage') return this.#stage(store, step, nowMs);
    if (step.step === 'claim') return store.jobs.claim(step.accountId, nowMs, LEASE_MS, 2);
    if (step.step === 'cancelJob') return store.jobs.requestCancel(this.#jobOf(step.pick), null);
    if (step.step === 'dropStaged') return store.jobs.dropStaged(this.#stagedOf(step.pick)?.id ?? 200n);
    if (step.step === 'dropContent') return store.jobs.dropContent(this.#jobOf(step.pick), step.accountId, nowMs);
    if (step.step === 'postpone') {
      const job = await store.jobs.find(this.#jobOf(step.pick), null);
      const claim = (job?.claim ?? 0) - (step.isOutdated ? 1 : 0);
      return store.jobs.postpone(job?.id ?? 200n, claim, nowMs + step.hours * 3_600_000);
    }
    for (const id of await store.jobs.groupsToActivate(10)) while ((await store.jobs.activate(id)) > 0);
    return null;
  }

  async #stage(store: Store, step: Extract<JobStep, { step: 'stage' }>, nowMs: number): Promise<unknown> {
    const { accountId, keyId, amounts, isGroup, hours, onUnknown } = step;
    const key = keyId === null ? null : await store.findKey(keyId);
    const owner = { accountId, keyId, personId: key?.personId ?? null };
    const groupId = isGroup ? this.#nextId++ : null;
    if (groupId !== null) await store.jobs.createGroup(aGroup(groupId, owner));
    const dueMs = nowMs + hours * 3_600_000;
    const terms = { ...owner, groupId, onUnknown, notBeforeMs: dueMs, expiresMs: dueMs + 72 * 3_600_000 };
    const rows = amounts.map((amount, at) => aJob(this.#nextId++, amount, { ...terms, line: isGroup ? at + 1 : 0 }));
    this.#jobIds.push(...rows.map(({ id }) => id));
    if (groupId === null) for (const { id, reservedNanousd } of rows) this.#add(id, false, owner, reservedNanousd);
    else
      this.#add(
        groupId,
        true,
        owner,
        amounts.reduce((sum, amount) => sum + amount),
      );
    return store.jobs.stage(rows, []).catch(() => 'rejected');
  }

  #stagedOf(at: number): Staged | undefined {
    return this.#staged[at % Math.max(1, this.#staged.length)];
  }

  #add(id: bigint, isGroup: boolean, owner: Pick<Staged, 'accountId' | 'keyId' | 'personId'>, amount: bigint): void {
    this.#staged.push({ id, isGroup, ...owner, amountNanousd: amount });
  }

  #jobOf(at: number): bigint {
    return this.#jobIds[at % Math.max(1, this.#jobIds.length)] ?? 200n;
  }

  /** The operation as it fits the job's present state, or nearly. */
  async operationOf(store: Store, operation: JobOperation, epoch: bigint, nowMs: number): Promise<LedgerOperation> {
    if (operation.kind === 'reserveJob') {
      const staged = this.#stagedOf(operation.pick);
      const { id, amountNanousd, ...rest } = staged ?? { id: 200n, amountNanousd: 1n };
      const { ceilingNanousd, key } = operation;
      const idempotency = key === null ? null : { key, bodySha256: Buffer.from('a') };
      return aReserve(id, amountNanousd, { ...rest, ceilingNanousd, idempotency, keepKeyUntilMs: nowMs + 1 });
    }
    const id = this.#jobOf(operation.pick);
    const job = await store.jobs.find(id, null);
    const { accountId = 1n, keyId = null, personId = null, reservedNanousd = 1n } = job ?? {};
    if (operation.kind === 'startJob') {
      const claim = (job?.claim ?? 0) - (operation.isOutdated ? 1 : 0);
      const call = { epoch, accountId, keyId, personId, createdMs: nowMs };
      return aStart(operation.callId, id, reservedNanousd, call, claim);
    }
    if (operation.kind === 'voidAttempt') return { kind: 'void', id: job?.callId ?? 1n, reason: 'gone' };
    if (operation.kind === 'releaseJob') {
      const claim = operation.sinceClaim === null ? null : (job?.claim ?? 0) - operation.sinceClaim;
      return aRelease(id, { accountId, end: operation.end, claim });
    }
    const { end, resultBytes: bytes } = operation;
    const result = bytes === null ? {} : { resultDigest: 'answer', resultChunks: 1, resultBytes: bytes };
    const cost = end === 'queued' ? 0n : operation.cost;
    return aFinish(job?.callId ?? 1n, id, cost, end, { dueMs: nowMs, errorCode: end, ...result });
  }
}

/** Everything that can be read of jobs. */
export async function jobsOf(store: Store, nowMs: number): Promise<unknown> {
  const page = { after: null, limit: 100 };
  return {
    jobs: await store.jobs.list(ALL_JOBS, page),
    groups: await store.jobs.listGroups({ accountId: null }, page),
    sums: await store.jobs.sums(nowMs),
    expired: (await store.jobs.expired(nowMs, 100)).map(({ id }) => id).sort(),
    due: await store.jobs.accountsWithDueJobs(nowMs, null, 10),
    nextDueMs: await store.jobs.nextDueMs(),
    waiting: (await store.jobs.waitingOf({ accountId: 1n }, 100)).map(({ id }) => id).sort(),
  };
}
