import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { OUTCOME_UNKNOWN } from '../src/store/jobs.ts';
import {
  ALL_JOBS,
  aChunk,
  aFinish,
  aJob,
  aRelease,
  aReserve,
  aStart,
  JOB_EXPIRES_MS,
  JOB_TTL_MS,
  LEASE_MS,
} from './job-fixtures.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

/** What operations on money do to jobs and to what is reserved for them. */
export function jobsContract(subject: StoreSubject): void {
  const jobs = () => subject.store.jobs;
  const job = async (id: bigint) => (await jobs().find(id, null))!;
  const claimAll = () => jobs().claim(1n, subject.clock.nowMs(), LEASE_MS, 100);
  /** An account's balance, held, reserved and spent. */
  const money = async (id = 1n) => {
    const account = await subject.store.findAccount(id);
    return [account!.balanceNanousd, account!.heldNanousd, account!.reservedNanousd, account!.spentNanousd];
  };
  const isExact = async () => expect((await subject.store.verify()).violations).toEqual([]);
  const accept = async (id: bigint, amount: bigint, over: Parameters<typeof aJob>[2] = {}) => {
    const staged = aJob(id, amount, over);
    await jobs().stage([staged], [aChunk(id)]);
    const { accountId, keyId, personId } = staged;
    expect(await subject.kinds(aReserve(id, amount, { accountId, keyId, personId }))).toEqual(['reserved']);
  };

  describe('jobs', () => {
    beforeEach(async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
    });

    it('shows nothing of a staged job, and moves no money for it', async () => {
      await jobs().stage([aJob(10n, 400n)], [aChunk(10n)]);
      expect(await jobs().find(10n, null)).toBeNull();
      expect(await jobs().list(ALL_JOBS, { after: null, limit: 10 })).toEqual([]);
      expect(await claimAll()).toEqual([]);
      expect(await money()).toEqual([1_000n, 0n, 0n, 0n]);
      await isExact();
    });

    it('reserves the amount of an accepted job, so that neither calls nor debits can take it', async () => {
      await accept(10n, 400n);
      expect(await money()).toEqual([1_000n, 0n, 400n, 0n]);
      expect(await job(10n)).toMatchObject({ state: 'queued', reservedNanousd: 400n, attempts: 0, callId: null });
      expect(await subject.store.apply([aHold(11n, 601n), aHold(12n, 600n)])).toEqual([
        { kind: 'hold_refused', reason: 'balance', availableNanousd: 600n },
        { kind: 'held' },
      ]);
      expect(await subject.kinds(aCredit(2n, -1n), aSettle(12n, 0n), aCredit(3n, -601n), aCredit(4n, -600n))).toEqual([
        'exceeds_available',
        'settled',
        'exceeds_available',
        'credited',
      ]);
      await isExact();
      await subject.reopen();
      expect(await money()).toEqual([400n, 0n, 400n, 0n]);
      expect(await subject.kinds(aHold(13n, 1n))).toEqual(['balance']);
    });

    it('refuses a reservation as a hold is refused, in the documented order, and keeps nothing', async () => {
      await subject.store.createKey(aKey(7n, 1n, { capNanousd: 300n }));
      await subject.store.createKey(aKey(8n, 1n));
      await subject.store.updateKey(8n, { revokedMs: NOON_MS });
      await jobs().stage([aJob(10n, 400n, { keyId: 7n })], []);
      const refusal = async (over: Parameters<typeof aReserve>[2], amount = 400n) =>
        (await subject.store.apply([aReserve(10n, amount, { keyId: 7n, ceilingNanousd: 350n, ...over })]))[0];
      const refused = (reason: string, availableNanousd: bigint | null = null) => ({
        kind: 'reserve_refused',
        reason,
        availableNanousd,
      });
      expect(await refusal({}, -1n)).toEqual(refused('out_of_range'));
      expect(await refusal({ accountId: 9n })).toEqual(refused('no_account'));
      expect(await refusal({ keyId: 8n })).toEqual(refused('key_inactive'));
      expect(await refusal({ id: 99n })).toEqual(refused('not_staged'));
      expect(await refusal({})).toEqual(refused('cost_ceiling', 350n));
      expect(await refusal({ ceilingNanousd: null })).toEqual(refused('key_cap', 300n));
      expect(await refusal({ keyId: null, ceilingNanousd: null }, 400n)).toEqual({ kind: 'reserved' });
      expect(await refusal({ keyId: null, ceilingNanousd: null }, 400n)).toEqual(refused('not_staged'));
      expect(await money()).toEqual([1_000n, 0n, 400n, 0n]);
    });

    it('refuses a reservation above the balance, and one of another amount than was staged', async () => {
      await jobs().stage([aJob(10n, 1_001n), aJob(11n, 5n)], []);
      expect(await subject.store.apply([aReserve(10n, 1_001n)])).toEqual([
        { kind: 'reserve_refused', reason: 'balance', availableNanousd: 1_000n },
      ]);
      expect(await subject.kinds(aReserve(11n, 4n), aReserve(11n, 5n))).toEqual(['operation_failed', 'reserved']);
      await isExact();
    });

    it('counts a reservation in the cap window of its acceptance, even when it runs the next day', async () => {
      await subject.store.createKey(aKey(7n, 1n, { capNanousd: 500n, capWindow: 'day' }));
      await accept(10n, 400n, { keyId: 7n });
      expect(await subject.store.keyWindow(7n)).toMatchObject({ spentNanousd: 0n, reservedNanousd: 400n });
      expect(await subject.kinds(aHold(11n, 101n, { keyId: 7n }))).toEqual(['key_cap']);
      subject.clock.advance(12 * 3_600_000);
      await claimAll();
      expect(await subject.kinds(aHold(12n, 500n, { keyId: 7n }), aStart(13n, 10n, 400n, { keyId: 7n }))).toEqual([
        'held',
        'held',
      ]);
      expect(await subject.store.keyWindow(7n)).toMatchObject({ heldNanousd: 500n, reservedNanousd: 0n });
      await subject.store.apply([aFinish(13n, 10n, 300n), aSettle(12n, 0n)]);
      expect(await subject.store.keyWindow(7n)).toMatchObject({ spentNanousd: 0n, heldNanousd: 0n });
      await isExact();
    });

    it('answers a repeated submission with the job that has the idempotency key, as long as the job lives', async () => {
      await jobs().stage([aJob(10n, 400n), aJob(11n, 400n), aJob(12n, 400n)], []);
      const mark = (text: string) => ({ key: 'mine', bodySha256: Buffer.alloc(32, text) });
      const reserve = (id: bigint, text = 'a') => aReserve(id, 400n, { idempotency: mark(text) });
      const repeated = { kind: 'idempotent', state: 'finished', callId: 10n, kept: null };
      expect(await subject.store.apply([reserve(10n), reserve(11n)])).toEqual([{ kind: 'reserved' }, repeated]);
      expect(await subject.store.apply([reserve(11n, 'b')])).toEqual([{ ...repeated, state: 'mismatch' }]);
      subject.clock.advance(JOB_EXPIRES_MS + JOB_TTL_MS - NOON_MS - 1);
      await subject.store.sweepIdempotencyKeys();
      expect(await subject.store.apply([reserve(11n)])).toEqual([repeated]);
      await isExact();
      subject.clock.advance(1);
      expect(await subject.store.apply([reserve(11n)])).toEqual([{ kind: 'reserved' }]);
    });

    it('claims due jobs once, and again when the lease has passed', async () => {
      await accept(10n, 100n);
      await accept(11n, 100n, { notBeforeMs: NOON_MS + 60_001 });
      expect(await jobs().accountsWithDueJobs(NOON_MS, null, 10)).toEqual([1n]);
      expect((await claimAll()).map(({ id, claim }) => [id, claim])).toEqual([[10n, 1]]);
      expect(await claimAll()).toEqual([]);
      expect(await jobs().accountsWithDueJobs(NOON_MS, null, 10)).toEqual([]);
      expect(await jobs().nextDueMs()).toBe(NOON_MS + LEASE_MS);
      subject.clock.advance(LEASE_MS);
      expect((await claimAll()).map(({ id, claim }) => [id, claim])).toEqual([[10n, 2]]);
      expect(await jobs().postpone(10n, 1, NOON_MS)).toBe(false);
      const error = { code: 'why', message: 'Because.' };
      expect(await jobs().postpone(10n, 2, NOON_MS + LEASE_MS, error)).toBe(true);
      const why = { errorCode: 'why', errorMessage: 'Because.' };
      expect(await jobs().find(10n, 1n)).toMatchObject(why);
      expect(await jobs().postpone(10n, 2, NOON_MS + LEASE_MS)).toBe(true);
      expect(await jobs().find(10n, 1n)).toMatchObject(why);
      expect((await claimAll()).map(({ id, claim }) => [id, claim])).toEqual([[10n, 3]]);
      expect(await subject.kinds(aStart(20n, 10n, 100n, {}, 2), aStart(21n, 10n, 100n, {}, 3))).toEqual([
        'not_claimed',
        'held',
      ]);
      expect(await job(10n)).toMatchObject({ state: 'running', errorCode: null, errorMessage: null });
      subject.clock.advance(LEASE_MS + 1);
      expect((await claimAll()).map(({ id }) => id)).toEqual([11n]);
    });

    it('turns the reservation into a hold when the job starts, and charges its cost when it ends', async () => {
      await accept(10n, 400n);
      await claimAll();
      expect(await subject.kinds(aStart(20n, 10n, 400n))).toEqual(['held']);
      expect(await money()).toEqual([1_000n, 400n, 0n, 0n]);
      expect(await job(10n)).toMatchObject({ state: 'running', attempts: 1, callId: 20n, startedMs: NOON_MS });
      await isExact();
      await jobs().putChunks([aChunk(10n, { attempt: 1, digest: 'answer' })]);
      const result = { resultDigest: 'answer', resultChunks: 1, resultBytes: 7 };
      expect(await subject.kinds(aFinish(20n, 10n, 250n, 'succeeded', result))).toEqual(['settled']);
      expect(await money()).toEqual([750n, 0n, 0n, 250n]);
      expect(await job(10n)).toMatchObject({
        state: 'succeeded',
        costNanousd: 250n,
        httpStatus: 200,
        finishedMs: NOON_MS,
        resultExpiresMs: NOON_MS + JOB_TTL_MS,
        result: { digest: 'answer', chunks: 1, bytes: 7 },
      });
      expect(await jobs().sums(NOON_MS)).toMatchObject({ waiting: 0, running: 0, storedBytes: 17 });
      expect((await subject.store.findReceipt(20n, 1n))?.costNanousd).toBe(250n);
      await isExact();
    });

    it('ends a job once: a second settlement finds it settled and changes nothing', async () => {
      await accept(10n, 400n);
      await claimAll();
      await subject.store.apply([aStart(20n, 10n, 400n), aFinish(20n, 10n, 250n)]);
      expect(await subject.kinds(aFinish(20n, 10n, 100n, 'failed'), aStart(21n, 10n, 400n))).toEqual([
        'settle_repeated',
        'not_claimed',
      ]);
      expect(await job(10n)).toMatchObject({ state: 'succeeded', costNanousd: 250n });
      await isExact();
    });

    it('refuses to start what was not claimed, costs more than reserved, or has expired', async () => {
      await accept(10n, 400n);
      expect(await subject.kinds(aStart(20n, 10n, 400n), aStart(20n, 99n, 400n))).toEqual([
        'not_claimed',
        'not_claimed',
      ]);
      await claimAll();
      expect(
        await subject.kinds(
          aStart(20n, 10n, 400n, { epoch: 99n }),
          aStart(20n, 10n, 401n),
          aStart(20n, 10n, 400n, { accountId: 2n }),
          aStart(20n, 10n, 400n, { keyId: 77n }),
        ),
      ).toEqual(['stale_epoch', 'exceeds_reservation', 'not_claimed', 'operation_failed']);
      subject.clock.advance(JOB_EXPIRES_MS - NOON_MS);
      expect(await subject.kinds(aStart(20n, 10n, 400n))).toEqual(['expired']);
      expect(await money()).toEqual([1_000n, 0n, 400n, 0n]);
      await isExact();
    });

    it('does not start a job of a revoked or disabled key, or of a suspended account', async () => {
      await subject.store.createKey(aKey(7n, 1n));
      await accept(10n, 400n, { keyId: 7n });
      await claimAll();
      const start = aStart(20n, 10n, 400n, { keyId: 7n });
      await subject.store.updateKey(7n, { disabledMs: NOON_MS });
      expect(await subject.kinds(start)).toEqual(['key_inactive']);
      await subject.store.updateKey(7n, { disabledMs: null, expiresMs: NOON_MS });
      expect(await subject.kinds(start)).toEqual(['key_inactive']);
      await subject.store.updateKey(7n, { expiresMs: null, revokedMs: NOON_MS });
      expect(await subject.kinds(start)).toEqual(['key_revoked']);
      expect((await jobs().waitingOf({ accountId: 1n, keyId: 7n }, 10)).map(({ id }) => id)).toEqual([10n]);
      await isExact();
    });

    it('returns the amount to the reservation when an attempt is tried again', async () => {
      await accept(10n, 400n);
      await claimAll();
      const later = { dueMs: NOON_MS + 5_000, errorCode: 'rate_limited', errorMessage: 'Too many requests.' };
      expect(await subject.kinds(aStart(20n, 10n, 400n), aFinish(20n, 10n, 0n, 'queued', later))).toEqual([
        'held',
        'settled',
      ]);
      expect(await money()).toEqual([1_000n, 0n, 400n, 0n]);
      expect(await job(10n)).toMatchObject({ state: 'queued', attempts: 1, dueMs: NOON_MS + 5_000, costNanousd: null });
      expect(await claimAll()).toEqual([]);
      subject.clock.advance(5_000);
      await claimAll();
      await subject.store.apply([aStart(21n, 10n, 400n, {}, 2), aFinish(21n, 10n, 30n)]);
      expect(await job(10n)).toMatchObject({ state: 'succeeded', attempts: 2, callId: 21n, errorCode: null });
      expect(await money()).toEqual([970n, 0n, 0n, 30n]);
      await isExact();
    });

    it('ends a waiting job on request, and frees its reservation', async () => {
      await accept(10n, 400n);
      await claimAll();
      expect(await subject.kinds(aRelease(10n, { claim: 7 }), aRelease(10n, { accountId: 2n }))).toEqual([
        'not_waiting',
        'no_job',
      ]);
      expect(await subject.store.apply([aRelease(10n), aRelease(10n), aRelease(99n)])).toEqual([
        { kind: 'released', state: 'cancelled' },
        { kind: 'release_refused', reason: 'not_waiting' },
        { kind: 'release_refused', reason: 'no_job' },
      ]);
      expect(await money()).toEqual([1_000n, 0n, 0n, 0n]);
      expect(await job(10n)).toMatchObject({ state: 'cancelled', costNanousd: 0n, finishedMs: NOON_MS });
      expect(await subject.kinds(aStart(20n, 10n, 400n))).toEqual(['not_claimed']);
      await isExact();
    });

    it('cancels a running job by asking its process, which may not put it back then', async () => {
      await accept(10n, 400n);
      await claimAll();
      expect(await jobs().requestCancel(10n, 1n)).toBe('waiting');
      await subject.store.apply([aStart(20n, 10n, 400n)]);
      expect(await jobs().requestCancel(10n, 2n)).toBe('no_job');
      expect(await jobs().requestCancel(10n, 1n)).toBe('cancelling');
      expect(await jobs().cancelling([10n, 11n])).toEqual([10n]);
      const failed = aFinish(20n, 10n, 0n, 'queued', { errorCode: 'overloaded', errorMessage: 'No host.' });
      expect(await subject.kinds(aRelease(10n), failed)).toEqual(['not_waiting', 'settled']);
      expect(await job(10n)).toMatchObject({ state: 'cancelled', costNanousd: 0n, errorCode: null });
      expect(await jobs().requestCancel(10n, 1n)).toBe('ended');
      expect(await money()).toEqual([1_000n, 0n, 0n, 0n]);
      await isExact();
    });

    it('expires a job that never ran with the reason why it waited, and fails one that did with its last error', async () => {
      await accept(10n, 100n);
      await accept(11n, 100n);
      await accept(12n, 100n);
      expect((await claimAll())[1]?.id).toBe(11n);
      expect(await jobs().postpone(12n, 1, NOON_MS, { code: 'why', message: 'Because.' })).toBe(true);
      const error = { errorCode: 'overloaded', errorMessage: 'No host.' };
      await subject.store.apply([aStart(20n, 11n, 100n), aFinish(20n, 11n, 0n, 'queued', error)]);
      subject.clock.advance(JOB_EXPIRES_MS - NOON_MS);
      expect((await jobs().expired(subject.clock.nowMs(), 10)).map(({ id }) => id).sort()).toEqual([10n, 11n, 12n]);
      const end = { end: 'expired', errorCode: 'job_expired', errorMessage: 'Too late.' } as const;
      const [ended, failed] = (['expired', 'failed'] as const).map((state) => ({ kind: 'released', state }));
      const released = await subject.store.apply([aRelease(10n, end), aRelease(11n, end), aRelease(12n, end)]);
      expect(released).toEqual([ended, failed, ended]);
      expect(await job(10n)).toMatchObject({ state: 'expired', errorCode: 'job_expired' });
      expect(await job(11n)).toMatchObject({ state: 'failed', ...error });
      expect(await job(12n)).toMatchObject({ state: 'expired', errorCode: 'why', errorMessage: 'Because.' });
      expect(await money()).toEqual([1_000n, 0n, 0n, 0n]);
      await isExact();
    });

    it('fails a job whose process died, without a charge, unless it is to be tried again', async () => {
      await accept(10n, 400n);
      await accept(11n, 300n, { onUnknown: 'retry' });
      await claimAll();
      await subject.store.apply([aStart(20n, 10n, 400n), aStart(21n, 11n, 300n)]);
      await subject.reopen();
      const { epoch } = await subject.store.beginInstance();
      await subject.store.reap();
      expect(await job(10n)).toMatchObject({ state: 'failed', costNanousd: 0n, errorCode: OUTCOME_UNKNOWN });
      expect(await job(11n)).toMatchObject({ state: 'queued', attempts: 1, costNanousd: null });
      expect(await money()).toEqual([1_000n, 0n, 300n, 0n]);
      expect((await subject.store.findReceipt(20n, 1n))?.lossNanousd).toBe(400n);
      expect(await subject.kinds(aFinish(21n, 11n, 100n))).toEqual(['settle_found_void']);
      await claimAll();
      await subject.store.apply([aStart(22n, 11n, 300n, { epoch }, 2), aFinish(22n, 11n, 100n)]);
      expect(await job(11n)).toMatchObject({ state: 'succeeded', costNanousd: 100n });
      expect(await money()).toEqual([900n, 0n, 0n, 100n]);
      await isExact();
    });

    it('settles a call of a job only as the attempt of that job', async () => {
      await accept(10n, 100n);
      await accept(11n, 100n);
      await claimAll();
      await subject.store.apply([aStart(20n, 10n, 100n), aStart(21n, 11n, 100n)]);
      expect(await subject.kinds(aFinish(20n, 11n, 5n), aFinish(20n, 99n, 5n))).toEqual([
        'operation_failed',
        'operation_failed',
      ]);
      expect(await subject.kinds(aFinish(20n, 10n, 101n))).toEqual(['exceeds_hold']);
      expect(await money()).toEqual([1_000n, 200n, 0n, 0n]);
      await isExact();
    });

    it('does not delay the closing of the books by a job that waits for weeks', async () => {
      const notBeforeMs = NOON_MS + 30 * 86_400_000;
      await accept(10n, 400n, { notBeforeMs, expiresMs: notBeforeMs + 1 });
      await subject.store.apply([aHold(20n, 100n), aSettle(20n, 60n), aHold(21n, 100n), aSettle(21n, 0n)]);
      subject.clock.advance(LIMITS.closingAgeMs + 60_001);
      expect(await subject.store.closeBooks(subject.clock.nowMs())).toMatchObject({ closed: 2 });
      expect(await money()).toEqual([940n, 0n, 400n, 60n]);
      await isExact();
      subject.clock.setNowMs(notBeforeMs);
      await claimAll();
      expect(await subject.kinds(aStart(22n, 10n, 400n), aFinish(22n, 10n, 10n))).toEqual(['held', 'settled']);
      await isExact();
    });

    it('limits the waiting jobs and the stored bytes of an account', async () => {
      const bytes = LIMITS.jobBytesMax - 5;
      await accept(10n, 1n, { request: { digest: 'large', chunks: 1, bytes } });
      await jobs().stage([aJob(11n, 1n)], []);
      expect(await subject.kinds(aReserve(11n, 1n))).toEqual(['too_many_bytes']);
      await claimAll();
      await subject.store.apply([aStart(20n, 10n, 1n), aFinish(20n, 10n, 0n)]);
      expect(await subject.kinds(aReserve(11n, 1n))).toEqual(['too_many_bytes']);
      expect(await jobs().dropContent(10n, 2n, NOON_MS)).toBe('no_job');
      expect(await jobs().dropContent(10n, 1n, NOON_MS)).toBe('dropped');
      expect(await jobs().dropContent(10n, 1n, NOON_MS)).toBe('dropped');
      expect(await subject.kinds(aReserve(11n, 1n))).toEqual(['reserved']);
      expect(await jobs().dropContent(11n, 1n, NOON_MS)).toBe('not_ended');
      expect((await job(10n)).contentGoneMs).toBe(NOON_MS);
      await isExact();
    });

    it('lists the jobs of an account by state, key and time, newest first', async () => {
      await subject.store.createAccount(anAccount(2n));
      await subject.store.createKey(aKey(7n, 1n));
      await accept(10n, 0n);
      await accept(11n, 0n, { keyId: 7n });
      await accept(12n, 0n, { notBeforeMs: NOON_MS + 1_000 });
      await accept(13n, 0n, { accountId: 2n });
      await subject.store.apply([aRelease(10n)]);
      const ids = async (filter: Parameters<ReturnType<typeof jobs>['list']>[0], after: bigint | null = null) =>
        (await jobs().list(filter, { after, limit: 2 })).map(({ id }) => id);
      expect(await ids(ALL_JOBS)).toEqual([13n, 12n]);
      expect(await ids(ALL_JOBS, 12n)).toEqual([11n, 10n]);
      expect(await ids({ accountId: 1n, states: ['queued'] })).toEqual([12n, 11n]);
      expect(await ids({ accountId: 1n, states: ['cancelled', 'failed'] })).toEqual([10n]);
      expect(await ids({ accountId: 1n, keyId: 7n })).toEqual([11n]);
      const scheduled = (is: boolean) =>
        ({ accountId: 1n, states: ['queued'], scheduled: { is, nowMs: NOON_MS } }) as const;
      expect(await ids(scheduled(true))).toEqual([12n]);
      expect(await ids(scheduled(false))).toEqual([11n]);
      expect(await jobs().find(13n, 1n)).toBeNull();
      expect(await jobs().accountsWithDueJobs(NOON_MS, null, 10)).toEqual([1n, 2n]);
      expect(await jobs().accountsWithDueJobs(NOON_MS, 1n, 10)).toEqual([2n]);
    });
  });
}
