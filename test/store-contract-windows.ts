import { beforeEach, describe, expect, it } from 'vitest';
import { idFloorAt } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { aJob, aRelease, aReserve } from './job-fixtures.ts';
import { aPerson, audit } from './people-fixtures.ts';
import { aCredit, aHold, aKey, aSettle } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

const DAY_MS = 86_400_000;

/** How long spending windows are kept. */
export function windowsContract(subject: StoreSubject): void {
  describe('old windows', () => {
    let calls = 0n;

    beforeEach(async () => {
      calls = 0n;
      await subject.store.apply([aCredit(1n, 1_000n)]);
      await subject.store.createKey(aKey(7n, 1n, { capWindow: 'day' }));
      await subject.store.createKey(aKey(8n, 1n, { capWindow: 'month' }));
      await subject.store.createKey(aKey(9n, 1n));
    });

    /** Key 10 is theirs. */
    const addPerson = async () => {
      const member = { accountId: 1n, personId: 5n, role: 'member', capNanousd: null, capWindow: 'week' } as const;
      await subject.store.directory.createPerson(aPerson(5n), audit('person.create'));
      await subject.store.directory.putMembership(member, audit('member.put'));
      await subject.store.createKey(aKey(10n, 1n, { personId: 5n }));
    };

    /** A call now, as ids are made by time. */
    const hold = async (keyId: bigint): Promise<bigint> => {
      const createdMs = subject.clock.nowMs();
      const id = idFloorAt(createdMs) + ++calls;
      expect(await subject.kinds(aHold(id, 10n, { keyId, personId: keyId === 10n ? 5n : null, createdMs }))).toEqual([
        'held',
      ]);
      return id;
    };
    const settle = (id: bigint) => subject.store.apply([aSettle(id, 10n, {})]);
    const call = async (keyId: bigint) => settle(await hold(keyId));
    const close = () => {
      subject.clock.advance(LIMITS.closingAgeMs);
      return subject.store.closeBooks(null);
    };
    const afterLongTime = () => subject.clock.advance(LIMITS.windowKeptMs + 2 * DAY_MS);
    const isExact = async () => expect((await subject.store.verify()).violations).toEqual([]);

    it('are deleted long after they began, but never those of a lifetime or of today', async () => {
      await addPerson();
      for (const key of [7n, 8n, 9n, 10n]) await call(key);
      await close();
      expect(await subject.store.sweepWindows()).toBe(0);
      afterLongTime();
      for (const key of [7n, 8n, 9n, 10n]) await call(key);
      expect(await subject.store.sweepWindows()).toBe(0);
      await close();
      expect([await subject.store.sweepWindows(), await subject.store.sweepWindows()]).toEqual([3, 0]);
      const spent = await Promise.all([7n, 8n, 9n].map((key) => subject.store.keyWindow(key)));
      expect(spent.map((window) => window?.spentNanousd)).toEqual([10n, 10n, 20n]);
      await isExact();
      await subject.reopen();
      await call(7n);
      expect(await subject.store.keyWindow(7n)).toMatchObject({ spentNanousd: 20n });
      await isExact();
    });

    it('stay while a call of them is not closed', async () => {
      const id = await hold(7n);
      afterLongTime();
      await call(7n);
      await close();
      expect(await subject.store.sweepWindows()).toBe(0);
      await settle(id);
      await isExact();
      await close();
      expect(await subject.store.sweepWindows()).toBe(1);
      await isExact();
    });

    it('stay while a job of them waits', async () => {
      await subject.store.jobs.stage([aJob(10n, 400n, { keyId: 7n })], []);
      expect(await subject.kinds(aReserve(10n, 400n, { keyId: 7n }))).toEqual(['reserved']);
      afterLongTime();
      await call(8n);
      await close();
      expect(await subject.store.sweepWindows()).toBe(0);
      await subject.store.apply([aRelease(10n)]);
      expect(await subject.store.sweepWindows()).toBe(1);
      await isExact();
    });

    it('are deleted while a job of a later window has just expired, and while one of a lifetime has', async () => {
      await addPerson();
      await call(7n);
      await subject.store.jobs.stage([aJob(10n, 0n, { keyId: 9n })], []);
      expect(await subject.kinds(aReserve(10n, 0n, { keyId: 9n }))).toEqual(['reserved']);
      afterLongTime();
      await call(9n);
      await close();
      const rows = [7n, 10n].map((keyId, at) =>
        aJob(11n + BigInt(at), 0n, { keyId, personId: keyId === 10n ? 5n : null }),
      );
      await subject.store.jobs.stage(rows, []);
      for (const { id, keyId, personId } of rows)
        expect(await subject.kinds(aReserve(id, 0n, { keyId, personId }))).toEqual(['reserved']);
      expect(await subject.store.sweepWindows()).toBe(1);
      await isExact();
    });

    it('of people stay too until a job of them that reserves nothing has ended', async () => {
      await addPerson();
      await subject.store.jobs.stage([aJob(10n, 0n, { keyId: 10n, personId: 5n })], []);
      expect(await subject.kinds(aReserve(10n, 0n, { keyId: 10n, personId: 5n }))).toEqual(['reserved']);
      afterLongTime();
      await call(9n);
      await close();
      expect(await subject.store.sweepWindows()).toBe(0);
      await subject.store.apply([aRelease(10n, { end: 'expired' })]);
      expect(await subject.store.sweepWindows()).toBe(1);
      await isExact();
    });

    it('are deleted in slices, however many there are', async () => {
      const keys = Array.from({ length: LIMITS.postgresClosingRows + 20 }, (_, at) => BigInt(100 + at));
      for (const key of keys) await subject.store.createKey(aKey(key, 1n, { capWindow: 'day' }));
      const createdMs = subject.clock.nowMs();
      const ids = keys.map((key) => ({ id: idFloorAt(createdMs) + key, keyId: key }));
      await subject.store.apply(ids.map(({ id, keyId }) => aHold(id, 1n, { keyId, createdMs })));
      await subject.store.apply(ids.map(({ id }) => aSettle(id, 1n)));
      afterLongTime();
      await call(9n);
      await close();
      expect(await subject.store.sweepWindows()).toBe(keys.length);
      await isExact();
    });
  });
}
