import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import type { JobGroupFilter } from '../src/store/jobs.ts';
import { ALL_JOBS, aChunk, aFinish, aGroup, aJob, aRelease, aReserve, aStart, LEASE_MS } from './job-fixtures.ts';
import { aCredit, aKey, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

/** Groups of jobs, which are accepted together. */
export function jobGroupsContract(subject: StoreSubject): void {
  const jobs = () => subject.store.jobs;
  const job = async (id: bigint) => (await jobs().find(id, null))!;
  const group = async (id: bigint) => (await jobs().findGroup(id, null))!;
  const claimAll = () => jobs().claim(1n, subject.clock.nowMs(), LEASE_MS, 100);
  /** The account's balance, held, reserved and spent. */
  const money = async () => {
    const account = await subject.store.findAccount(1n);
    return [account!.balanceNanousd, account!.heldNanousd, account!.reservedNanousd, account!.spentNanousd];
  };
  const isExact = async () => expect((await subject.store.verify()).violations).toEqual([]);

  describe('groups of jobs', () => {
    const line = (id: bigint, groupId: bigint, at: number, amount: bigint) =>
      aJob(id, amount, { groupId, line: at, customId: `line-${at}` });

    beforeEach(async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      await jobs().createGroup(aGroup(50n));
      await jobs().stage([line(51n, 50n, 1, 100n), line(52n, 50n, 2, 200n)], [aChunk(51n), aChunk(52n)]);
      await jobs().stage([line(53n, 50n, 3, 300n)], [aChunk(53n)]);
    });

    const acceptAll = async () => {
      expect(await subject.kinds(aReserve(50n, 600n, { isGroup: true }))).toEqual(['reserved']);
      while ((await jobs().activate(50n)) > 0);
    };

    it('accepts all lines of a group with one reservation, or none', async () => {
      expect(await jobs().findGroup(50n, null)).toBeNull();
      const over = { isGroup: true, ceilingNanousd: 599n };
      expect(await subject.kinds(aReserve(50n, 600n, over))).toEqual(['cost_ceiling']);
      expect(await jobs().list(ALL_JOBS, { after: null, limit: 10 })).toEqual([]);
      expect(await subject.kinds(aReserve(50n, 600n, { isGroup: true }))).toEqual(['reserved']);
      expect(await money()).toEqual([1_000n, 0n, 600n, 0n]);
      await isExact();
      expect(await jobs().groupsToActivate(10)).toEqual([50n]);
      while ((await jobs().activate(50n)) > 0);
      expect(await jobs().groupsToActivate(10)).toEqual([]);
      expect(await group(50n)).toMatchObject({
        lines: 3,
        reservedNanousd: 600n,
        isActive: true,
        counts: { waiting: 3 },
      });
      const listed = await jobs().list({ accountId: 1n, groupId: 50n }, { after: 51n, limit: 10 });
      expect(listed.map(({ id, customId }) => [id, customId])).toEqual([
        [52n, 'line-2'],
        [53n, 'line-3'],
      ]);
      expect(await jobs().stage([line(54n, 50n, 4, 1n)], [])).toBe('no_group');
      await isExact();
    });

    it('drops what was staged and not accepted', async () => {
      expect(await jobs().dropStaged(50n)).toBe(false);
      expect(await subject.kinds(aReserve(50n, 600n, { isGroup: true }))).toEqual(['not_staged']);
      expect(await jobs().stage([line(54n, 50n, 4, 1n)], [])).toBe('no_group');
      expect(await jobs().readChunk(aChunk(51n))).toBeNull();
      await isExact();
    });

    it('drops a large group in slices, so that calls need not wait for all of it', async () => {
      const lines = LIMITS.jobStageRowsMax + 1;
      await jobs().createGroup(aGroup(1_000n));
      for (let at = 1; at <= lines; at += LIMITS.jobStageRowsMax) {
        const count = Math.min(LIMITS.jobStageRowsMax, lines - at + 1);
        const slice = Array.from({ length: count }, (_, next) => BigInt(1_000 + at + next));
        await jobs().stage(
          slice.map((id) => line(id, 1_000n, Number(id) - 1_000, 1n)),
          slice.map((id) => aChunk(id)),
        );
      }
      expect(await jobs().dropStaged(1_000n)).toBe(true);
      expect(await jobs().stage([line(9_000n, 1_000n, 9, 1n)], [])).toBe('no_group');
      expect(await jobs().dropStaged(1_000n)).toBe(false);
      for (const id of [1_001n, BigInt(1_000 + lines)]) expect(await jobs().readChunk(aChunk(id))).toBeNull();
      expect(await jobs().readChunk(aChunk(51n))).not.toBeNull();
      await isExact();
    });

    it('lists accepted groups of an account, of one of its keys, or of a person', async () => {
      const ids = async (filter: JobGroupFilter, after: bigint | null = null) =>
        (await jobs().listGroups(filter, { after, limit: 10 })).map(({ id }) => id);
      expect(await ids({ accountId: null })).toEqual([]);
      await acceptAll();
      await subject.store.createKey(aKey(7n, 1n));
      await jobs().createGroup(aGroup(60n, { keyId: 7n }));
      await jobs().stage([{ ...line(61n, 60n, 1, 10n), keyId: 7n }], []);
      await subject.kinds(aReserve(60n, 10n, { isGroup: true, keyId: 7n }));
      expect(await ids({ accountId: 1n })).toEqual([60n, 50n]);
      expect(await ids({ accountId: 1n }, 60n)).toEqual([50n]);
      expect(await ids({ accountId: 1n, keyId: 7n })).toEqual([60n]);
      expect(await ids({ accountId: 1n, personId: 3n })).toEqual([]);
      expect(await ids({ accountId: 2n })).toEqual([]);
    });

    it('does not drop an accepted group', async () => {
      await acceptAll();
      expect([await jobs().dropStaged(50n), await jobs().dropStaged(51n)]).toEqual([false, false]);
      expect((await group(50n)).counts.waiting).toBe(3);
      expect(await job(51n)).toMatchObject({ state: 'queued' });
    });

    it('takes the part of a started line off the reservation of its group, and counts how its jobs end', async () => {
      await acceptAll();
      await claimAll();
      await subject.store.apply([aStart(70n, 51n, 100n), aStart(71n, 52n, 200n)]);
      expect(await group(50n)).toMatchObject({ reservedNanousd: 300n, counts: { waiting: 1, running: 2 } });
      expect(await money()).toEqual([1_000n, 300n, 300n, 0n]);
      await isExact();
      await subject.store.apply([aFinish(70n, 51n, 40n), aFinish(71n, 52n, 0n, 'queued', { dueMs: NOON_MS })]);
      expect(await group(50n)).toMatchObject({ reservedNanousd: 500n, chargedNanousd: 40n, finishedMs: null });
      await isExact();
      await subject.store.apply([aRelease(52n), aRelease(53n, { end: 'expired' })]);
      expect(await group(50n)).toMatchObject({
        reservedNanousd: 0n,
        chargedNanousd: 40n,
        finishedMs: NOON_MS,
        counts: { waiting: 0, running: 0, succeeded: 1, failed: 0, cancelled: 1, expired: 1 },
      });
      expect(await money()).toEqual([960n, 0n, 0n, 40n]);
      await isExact();
    });
  });
}
