import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Receipt } from '../src/canonical/receipt.ts';
import { idFloorAt } from '../src/kit/ids.ts';
import type { AccountReceiptFilter, HoldOperation } from '../src/store/store.ts';
import { aPerson, audit } from './people-fixtures.ts';
import { aHold, aKey, anAccount, aSettle, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

const EVERYTHING = { keyId: null, sinceMs: null, untilMs: null, model: null, chain: null };
const MINUTE_MS = 60_000;

/** Call `n` is made `n` minutes after noon. */
const idOf = (n: number): bigint => idFloorAt(NOON_MS + n * MINUTE_MS) + BigInt(n);
const numberOf = (id: bigint): number => Number(id & 0xfffn);

/** An account's own receipts, as its callers list them. */
export function receiptsContract(subject: StoreSubject): void {
  async function list(
    filter: Partial<AccountReceiptFilter>,
    limit = 100,
    after: bigint | null = null,
    examineMax = 1_000,
  ) {
    const page = { limit, after, examineMax };
    const { receipts, next } = await subject.store.listAccountReceipts(
      { accountId: 2n, ...EVERYTHING, ...filter },
      page,
    );
    return { calls: receipts.map(({ id }) => numberOf(id)), next: next === null ? null : numberOf(next) };
  }

  const hold = (n: number, over: Partial<HoldOperation> = {}): HoldOperation =>
    aHold(idOf(n), 0n, { accountId: 2n, createdMs: NOON_MS + n * MINUTE_MS, ...over });

  describe("an account's receipts", () => {
    beforeEach(async () => {
      await subject.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
      await subject.store.createKey(aKey(7n, 2n));
      await subject.store.createKey(aKey(8n, 2n));
    });

    it('are listed newest first, open and settled alike, without those of other accounts', async () => {
      await subject.store.apply([hold(1), hold(2, { accountId: 1n }), hold(3, { keyId: 7n }), hold(4)]);
      await subject.store.apply([aSettle(idOf(3), 0n), aSettle(idOf(2), 0n)]);
      expect(await list({})).toEqual({ calls: [4, 3, 1], next: null });
      const page = { limit: 1, after: idOf(4), examineMax: 10 };
      const { receipts } = await subject.store.listAccountReceipts({ accountId: 2n, ...EVERYTHING }, page);
      expect(receipts).toEqual([await subject.store.findReceipt(idOf(3), 2n)]);
    });

    it('are found by key, time, model and chain', async () => {
      await subject.store.apply([
        hold(1, { keyId: 7n, requestedModel: 'alias', effectiveModel: 'one', chain: 'plan;1' }),
        hold(2, { keyId: 8n, requestedModel: 'two', effectiveModel: 'two', chain: 'plan;2' }),
        hold(3, { keyId: 7n, requestedModel: 'one', effectiveModel: 'one', chain: 'plan-b;1' }),
        hold(4, { accountId: 1n, chain: 'plan;3' }),
      ]);
      await subject.store.apply([aSettle(idOf(1), 0n), aSettle(idOf(2), 0n)]);
      expect((await list({ keyId: 7n })).calls).toEqual([3, 1]);
      expect((await list({ keyId: 9n })).calls).toEqual([]);
      expect((await list({ sinceMs: NOON_MS + 2 * MINUTE_MS })).calls).toEqual([3, 2]);
      expect((await list({ untilMs: NOON_MS + 3 * MINUTE_MS })).calls).toEqual([2, 1]);
      expect((await list({ model: 'one' })).calls).toEqual([3, 1]);
      expect((await list({ model: 'alias' })).calls).toEqual([1]);
      expect((await list({ model: 'nobody' })).calls).toEqual([]);
      expect((await list({ chain: 'plan' })).calls).toEqual([2, 1]);
      expect((await list({ chain: 'plan', keyId: 8n })).calls).toEqual([2]);
      expect((await list({ chain: 'pla' })).calls).toEqual([]);
      expect((await list({ chain: "x' OR 1=1 --" })).calls).toEqual([]);
    });

    it('are found by route, status, ending and host, of one account or of all', async () => {
      await subject.store.apply([
        hold(1, { route: '/v1/messages' }),
        hold(2, { accountId: 1n, route: '/v1/messages' }),
        hold(3, { chain: 'plan;1' }),
        hold(4),
      ]);
      const failed = aSettle(idOf(3), 0n);
      await subject.store.apply([
        aSettle(idOf(1), 0n),
        { ...failed, settlement: { ...failed.settlement, ended: 'failed', host: 'other' } },
      ]);
      const { host } = (await subject.store.findReceipt(idOf(1), null))!;
      expect((await list({ route: '/v1/messages' })).calls).toEqual([1]);
      expect((await list({ route: '/v1/messages', accountId: null })).calls).toEqual([2, 1]);
      expect((await list({ route: '/v1/unknown' })).calls).toEqual([]);
      expect((await list({ state: 'open' })).calls).toEqual([4]);
      expect((await list({ state: 'settled' })).calls).toEqual([3, 1]);
      expect((await list({ ended: 'failed' })).calls).toEqual([3]);
      expect((await list({ host: 'other' })).calls).toEqual([3]);
      expect((await list({ host, accountId: null })).calls).toEqual([1]);
      expect((await list({ chain: 'plan', accountId: null })).calls).toEqual([3]);
      expect((await list({ accountId: null })).calls).toEqual([4, 3, 2, 1]);
    });

    it('are found by the time of the hold, though their id is older', async () => {
      await subject.store.apply([hold(1, { createdMs: NOON_MS + 30 * MINUTE_MS })]);
      expect((await list({ sinceMs: NOON_MS + 30 * MINUTE_MS })).calls).toEqual([1]);
      expect((await list({ untilMs: NOON_MS + 30 * MINUTE_MS })).calls).toEqual([]);
    });

    it('end a search after as many rows as it may examine, and say where to go on', async () => {
      await subject.store.apply([1, 2, 3, 4, 5].map((n) => hold(n, n === 1 ? { keyId: 7n } : {})));
      expect(await list({ keyId: 7n }, 10, null, 3)).toEqual({ calls: [], next: 3 });
      expect(await list({ keyId: 7n }, 10, idOf(3), 3)).toEqual({ calls: [1], next: null });
      expect(await list({}, 2, null, 3)).toEqual({ calls: [5, 4], next: 4 });
    });

    it('are found by the person whose key it was', async () => {
      const { directory } = subject.store;
      await directory.createPerson(aPerson(5n), audit('people.create'));
      const membership = {
        accountId: 2n,
        personId: 5n,
        role: 'member',
        capNanousd: null,
        capWindow: 'lifetime',
      } as const;
      await directory.putMembership(membership, audit('members.put'));
      await subject.store.createKey(aKey(9n, 2n, { personId: 5n }));
      const own = { keyId: 9n, personId: 5n };
      await subject.store.apply([hold(1, { keyId: 7n }), hold(2, own), hold(3), hold(4, own)]);
      expect((await list({ personId: 5n })).calls).toEqual([4, 2]);
      expect((await list({ personId: 5n }, 1)).next).toBe(4);
      expect((await list({ personId: 6n })).calls).toEqual([]);
    });

    it('come once each and in order, whatever the filters and the sizes of pages', async () => {
      const models = ['one', 'two'];
      const calls = Array.from({ length: 40 }, (_, n) =>
        hold(n, {
          keyId: [7n, 8n, null][n % 3]!,
          effectiveModel: models[n % 2]!,
          chain: n % 4 === 0 ? `c${n % 8};1` : null,
        }),
      );
      await subject.store.apply(calls);
      await subject.store.apply(calls.filter((_, n) => n % 5 !== 0).map(({ id }) => aSettle(id, 0n)));
      const minutes = fc.option(fc.nat(45), { nil: null });
      const anything = fc.record({
        keyId: fc.constantFrom(7n, 8n, null),
        since: minutes,
        until: minutes,
        model: fc.constantFrom('one', 'two', null),
        chain: fc.constantFrom('c0', 'c4', null),
        limit: fc.integer({ min: 1, max: 9 }),
        examineMax: fc.integer({ min: 1, max: 12 }),
      });
      await fc.assert(
        fc.asyncProperty(anything, async ({ keyId, since, until, model, chain, limit, examineMax }) => {
          const ms = (minute: number | null) => (minute === null ? null : NOON_MS + minute * MINUTE_MS);
          const filter = { keyId, sinceMs: ms(since), untilMs: ms(until), model, chain };
          const wanted = calls
            .filter((call) => isWanted(call, filter))
            .map(({ id }) => numberOf(id))
            .reverse();
          const seen: number[] = [];
          let after: bigint | null = null;
          do {
            const page = { limit, after, examineMax };
            const slice: { receipts: readonly Receipt[]; next: bigint | null } =
              await subject.store.listAccountReceipts({ accountId: 2n, ...filter }, page);
            expect(slice.receipts.length).toBeLessThanOrEqual(limit);
            seen.push(...slice.receipts.map(({ id }) => numberOf(id)));
            after = slice.next;
          } while (after !== null);
          expect(seen).toEqual(wanted);
        }),
        { numRuns: 25 },
      );
    });
  });
}

/** What a feed of receipts reads. */
export function callFeedContract(subject: StoreSubject): void {
  const owner = (id: bigint, over: object = {}) => ({ id, accountId: 1n, keyId: null, personId: null, ...over });
  const byId = (a: { id: bigint }, b: { id: bigint }): number => (a.id < b.id ? -1 : 1);

  describe('the reads of a feed', () => {
    beforeEach(async () => {
      await subject.store.createKey(aKey(7n, 1n));
      await subject.store.apply([
        aHold(1n, 0n),
        aHold(2n, 0n, { keyId: 7n }),
        aHold(3n, 0n),
        aHold(4n, 0n),
        aHold(5n, 0n),
      ]);
      await subject.store.apply([
        { ...aSettle(3n, 0n), endedMs: NOON_MS + 300 },
        { ...aSettle(4n, 0n), endedMs: NOON_MS + 100 },
        { kind: 'void', id: 5n, reason: 'gone' },
      ]);
    });

    it('find the open calls and whose they are', async () => {
      const { callFeed } = subject.store;
      expect((await callFeed.openCalls(10)).toSorted(byId)).toEqual([owner(1n), owner(2n, { keyId: 7n })]);
      expect(await callFeed.openCalls(1)).toHaveLength(1);
    });

    it('find calls that ended since a time, settled or voided, from an id on', async () => {
      const { callFeed } = subject.store;
      expect(await callFeed.endedCalls(0n, 0, 10)).toEqual([owner(3n), owner(4n), owner(5n)]);
      expect(await callFeed.endedCalls(4n, 0, 10)).toEqual([owner(4n), owner(5n)]);
      expect(await callFeed.endedCalls(0n, 0, 2)).toEqual([owner(3n), owner(4n)]);
      expect((await callFeed.endedCalls(0n, NOON_MS + 300, 10)).map(({ id }) => id)).toContain(3n);
      expect((await callFeed.endedCalls(0n, NOON_MS + 101, 10)).map(({ id }) => id)).not.toContain(4n);
    });

    it('find the receipts of calls that have ended, and of no others', async () => {
      const { callFeed } = subject.store;
      const expected = await Promise.all([3n, 5n].map((id) => subject.store.findReceipt(id, null)));
      expect(await callFeed.endedReceipts([1n, 3n, 5n, 99n])).toEqual(expected);
      expect(await callFeed.endedReceipts([])).toEqual([]);
    });
  });
}

function isWanted(
  call: HoldOperation,
  { keyId, sinceMs, untilMs, model, chain }: Omit<AccountReceiptFilter, 'accountId'>,
) {
  return (
    (keyId === null || call.keyId === keyId) &&
    (sinceMs === null || call.createdMs >= sinceMs) &&
    (untilMs === null || call.createdMs < untilMs) &&
    (model === null || call.effectiveModel === model) &&
    (chain === null || call.chain?.split(';')[0] === chain)
  );
}
