import { describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { aChunk, aFinish, aGroup, aJob, aRelease, aReserve, aStart, JOB_TTL_MS, LEASE_MS } from './job-fixtures.ts';
import { audit } from './people-fixtures.ts';
import { aCredit, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

/** What is stored for jobs besides money, the same on both engines. */
export function jobContentsContract(name: string, open: OpenStore): void {
  describe(`job contents: ${name}`, () => {
    const subject = new StoreSubject(open);
    const jobs = () => subject.store.jobs;
    const accept = async (id: bigint, over: Parameters<typeof aJob>[2] = {}) => {
      await jobs().stage([aJob(id, 10n, over)], [aChunk(id)]);
      expect(await subject.kinds(aCredit(id, 10n), aReserve(id, 10n))).toEqual(['credited', 'reserved']);
    };
    const sweepAll = async () => {
      let rows = 0;
      for (let found = 1; found > 0; rows += found) found = await jobs().sweep(subject.clock.nowMs());
      return rows;
    };

    it('stores the chunks of a request and of the answer of the last attempt', async () => {
      await accept(10n);
      expect(Buffer.from((await jobs().readChunk(aChunk(10n)))!).toString()).toBe('chunk of 10');
      const answer = (attempt: number, part: number) => aChunk(10n, { attempt, part, digest: `answer-${attempt}` });
      await jobs().putChunks([answer(1, 0), answer(1, 1)]);
      await jobs().putChunks([answer(1, 0)]);
      await jobs().putChunks([answer(2, 0)]);
      expect(await jobs().readChunk(answer(1, 1))).toBeNull();
      expect(await jobs().readChunk(answer(2, 0))).not.toBeNull();
      expect(await jobs().readChunk(aChunk(10n))).not.toBeNull();
    });

    it('lists chunks in order, and replaces one only if it is still the same', async () => {
      await accept(10n);
      await accept(11n);
      await jobs().putChunks([aChunk(10n, { attempt: 1, digest: 'a' })]);
      const page = await jobs().chunksAfter(null, 2);
      expect(page.map(({ jobId, attempt }) => [jobId, attempt])).toEqual([
        [10n, 0],
        [10n, 1],
      ]);
      expect((await jobs().chunksAfter(page.at(-1)!, 2)).map(({ jobId }) => jobId)).toEqual([11n]);
      const [first] = page;
      const other = Buffer.from('other');
      expect(await jobs().resealChunk(first!, other, other)).toBe(false);
      expect(await jobs().resealChunk(first!, first!.sealed, other)).toBe(true);
      expect(Buffer.from((await jobs().readChunk(first!))!)).toEqual(other);
    });

    it('deletes request and result when their time has passed, and the row much later', async () => {
      await accept(10n);
      await jobs().claim(1n, NOON_MS, LEASE_MS, 1);
      await subject.store.apply([aStart(20n, 10n, 10n), aFinish(20n, 10n, 4n)]);
      expect(await sweepAll()).toBe(0);
      subject.clock.advance(JOB_TTL_MS);
      expect(await sweepAll()).toBe(1);
      expect(await jobs().readChunk(aChunk(10n))).toBeNull();
      expect(await jobs().find(10n, 1n)).toMatchObject({ state: 'succeeded', contentGoneMs: NOON_MS + JOB_TTL_MS });
      expect(await jobs().sums(NOON_MS)).toMatchObject({ storedBytes: 0 });
      expect((await subject.store.verify()).violations).toEqual([]);
      subject.clock.advance(LIMITS.jobRowsKeptMs + 1);
      expect(await sweepAll()).toBe(1);
      expect(await jobs().find(10n, 1n)).toBeNull();
      expect((await subject.store.findReceipt(20n, 1n))?.costNanousd).toBe(4n);
    });

    it('keeps no answer that comes after request and result of its job were deleted', async () => {
      await accept(10n);
      await subject.store.apply([aRelease(10n)]);
      await jobs().dropContent(10n, 1n, NOON_MS);
      await jobs().putChunks([aChunk(10n, { attempt: 1, digest: 'late' })]);
      await jobs().putChunks([aChunk(11n, { attempt: 1, digest: 'of no job' })]);
      expect(await jobs().chunksAfter(null, 10)).toEqual([]);
    });

    it('deletes what was staged and not accepted in time, and nothing else', async () => {
      await jobs().createGroup(aGroup(50n));
      await jobs().stage([aJob(51n, 1n, { groupId: 50n, line: 1 })], [aChunk(51n)]);
      await jobs().createGroup(aGroup(60n));
      await jobs().stage([aJob(61n, 0n, { groupId: 60n, line: 1 })], [aChunk(61n)]);
      await jobs().stage([aJob(70n, 1n)], [aChunk(70n)]);
      await subject.kinds(aReserve(60n, 0n, { isGroup: true }));
      subject.clock.advance(LIMITS.jobStagedMs + 1);
      expect(await sweepAll()).toBe(3);
      expect(await jobs().readChunk(aChunk(51n))).toBeNull();
      expect(await jobs().readChunk(aChunk(70n))).toBeNull();
      expect(await jobs().activate(60n)).toBe(1);
      expect(await jobs().find(61n, 1n)).toMatchObject({ state: 'queued' });
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('keeps an event of each job or group that ends, for an account with webhooks, until it is handed over', async () => {
      await accept(10n);
      await subject.store.apply([aRelease(10n)]);
      expect(await jobs().events(10)).toEqual([]);
      const webhook = { id: 1n, accountId: 1n, name: 'hook', url: 'https://hooks.example', events: null } as const;
      const secret = { id: 2n, sealed: Buffer.from('sealed') };
      await subject.store.directory.putWebhook({ ...webhook, createdMs: NOON_MS }, secret, audit('webhook.put'));
      await jobs().createGroup(aGroup(50n));
      const lines = [51n, 52n].map((id, at) => aJob(id, 0n, { groupId: 50n, line: at + 1 }));
      await jobs().stage(lines, []);
      await subject.kinds(aReserve(50n, 0n, { isGroup: true }));
      while ((await jobs().activate(50n)) > 0);
      await accept(53n);
      await subject.store.apply([aRelease(51n), aRelease(52n), aRelease(53n, { end: 'expired' })]);
      const events = await jobs().events(10);
      expect(events).toEqual([
        { subjectId: 50n, accountId: 1n, type: 'group.finished', createdMs: NOON_MS },
        { subjectId: 53n, accountId: 1n, type: 'job.expired', createdMs: NOON_MS },
      ]);
      const told = { id: 900n, accountId: 1n, type: 'job.expired', dataJson: '{}', createdMs: NOON_MS };
      const handed = [
        { subjectId: 53n, event: told },
        { subjectId: 50n, event: null },
      ];
      expect(await jobs().handOver(handed)).toBe(2);
      expect(await jobs().handOver(handed)).toBe(0);
      expect(await jobs().events(10)).toEqual([]);
      expect(await subject.store.directory.findDelivery(1n, 900n)).toMatchObject({ type: 'job.expired' });
      expect(await subject.store.directory.listDeliveries(1n, { before: null, limit: 10 })).toHaveLength(1);
    });

    it('finds the price list of a job by its version', async () => {
      expect(await jobs().priceList('prices-1')).toBe('{"model":1}');
      expect(await jobs().priceList('prices-2')).toBeNull();
    });
  });
}
