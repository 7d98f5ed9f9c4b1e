import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { INT64_MAX } from '../src/store/int64.ts';
import { DIED_REASON, type Store } from '../src/store/store.ts';
import {
  ALL_RECEIPTS,
  aCredit,
  aHold,
  aKey,
  anAccount,
  aSettle,
  FIRST_PAGE,
  NOON_MS,
  type OpenStore,
  prepare,
  type StoreUnderTest,
} from './store-fixtures.ts';

/** What every engine of the store owes; run it with the model too, so that the model is not believed blindly. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    let clock: ManualClock;
    let subject: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      clock = new ManualClock(NOON_MS);
      subject = await open(clock);
      store = subject.store;
      await prepare(store);
    });

    afterEach(() => subject.dispose());

    const balance = async (id = 1n) => {
      const account = await store.findAccount(id);
      return [account?.balanceNanousd, account?.heldNanousd, account?.spentNanousd];
    };
    const kinds = async (...operations: Parameters<Store['apply']>[0]) =>
      (await store.apply(operations)).map((outcome) => ('reason' in outcome ? outcome.reason : outcome.kind));

    describe('apply', () => {
      it('answers each operation in its place and nothing for nothing', async () => {
        expect(await store.apply([])).toEqual([]);
        expect(
          await kinds(aCredit(1n, 100n), aHold(1n, 60n), aHold(2n, 60n), aSettle(1n, 10n), aHold(3n, 60n)),
        ).toEqual(['credited', 'held', 'balance', 'settled', 'held']);
        expect(await balance()).toEqual([90n, 60n, 10n]);
      });

      it('lets an operation that breaks a rule fail alone', async () => {
        const outcomes = await kinds(
          aCredit(1n, 1_000n),
          aHold(1n, 100n),
          aHold(1n, 50n),
          aHold(2n, 100n, { priceId: 99 }),
          aCredit(1n, 5n, { reference: 'other' }),
          aHold(3n, 100n, { requestedModel: 'a name never seen before' }),
          aSettle(1n, 70n),
        );
        const failed = 'operation_failed';
        expect(outcomes).toEqual(['credited', 'held', failed, failed, failed, 'held', 'settled']);
        expect(await balance()).toEqual([930n, 100n, 70n]);
        expect(await store.findReceipt(2n, null)).toBeNull();
        expect((await store.findReceipt(3n, null))?.requestedModel).toBe('a name never seen before');
        expect((await store.verify()).violations).toEqual([]);
      });

      it('keeps everything across a restart', async () => {
        await store.apply([aCredit(1n, 1_000n), aHold(1n, 400n), aHold(2n, 300n), aSettle(1n, 250n)]);
        store = await subject.reopen();
        expect(await balance()).toEqual([750n, 300n, 250n]);
        expect(await kinds(aHold(3n, 451n), aHold(4n, 450n), aSettle(2n, 300n))).toEqual([
          'balance',
          'held',
          'settled',
        ]);
        expect((await store.verify()).violations).toEqual([]);
      });
    });

    describe('hold', () => {
      beforeEach(async () => {
        await store.apply([aCredit(1n, 1_000n)]);
        await store.createKey(aKey(7n, 1n, { capNanousd: 500n }));
      });

      it('refuses in the documented order, and says what there is', async () => {
        await store.createAccount(anAccount(2n));
        const refusal = async (over: Parameters<typeof aHold>[2], amount = 600n) =>
          (await store.apply([aHold(9n, amount, { keyId: 7n, ceilingNanousd: 400n, ...over })]))[0];
        const refused = (reason: string, availableNanousd: bigint | null = null) => ({
          kind: 'hold_refused',
          reason,
          availableNanousd,
        });
        expect(await refusal({ epoch: 9n, accountId: 9n, keyId: 9n }, -1n)).toEqual(refused('out_of_range'));
        expect(await refusal({ epoch: 9n, accountId: 9n, keyId: 9n }, 2n ** 70n)).toEqual(refused('out_of_range'));
        expect(await refusal({ epoch: 9n, accountId: 9n, keyId: 9n })).toEqual(refused('stale_epoch'));
        expect(await refusal({ accountId: 9n, keyId: 9n })).toEqual(refused('no_account'));
        expect(await refusal({ keyId: 9n })).toEqual(refused('key_inactive'));
        expect(await refusal({ accountId: 2n })).toEqual(refused('key_inactive'));
        expect(await refusal({})).toEqual(refused('cost_ceiling', 400n));
        expect(await refusal({ ceilingNanousd: 600n })).toEqual(refused('key_cap', 500n));
        expect(await refusal({ ceilingNanousd: null, keyId: null }, 1_001n)).toEqual(refused('balance', 1_000n));
        expect(await store.findReceipt(9n, null)).toBeNull();
        expect(await balance()).toEqual([1_000n, 0n, 0n]);
      });

      it('passes exactly at ceiling, cap and balance', async () => {
        const exact = aHold(1n, 500n, { keyId: 7n, ceilingNanousd: 500n });
        expect(await kinds(exact, aHold(2n, 500n), aHold(3n, 0n), aHold(4n, 1n))).toEqual([
          'held',
          'held',
          'held',
          'balance',
        ]);
        expect(await balance()).toEqual([1_000n, 1_000n, 0n]);
      });

      it('never says less than nothing is left of a cap that was lowered', async () => {
        await store.apply([aHold(1n, 300n, { keyId: 7n })]);
        await store.updateKey(7n, { capNanousd: 100n });
        expect(await store.apply([aHold(2n, 1n, { keyId: 7n })])).toEqual([
          { kind: 'hold_refused', reason: 'key_cap', availableNanousd: 0n },
        ]);
      });

      it('refuses a revoked key and an expired one', async () => {
        await store.createKey(aKey(8n, 1n, { expiresMs: NOON_MS + 1_000 }));
        await store.updateKey(7n, { revokedMs: NOON_MS });
        expect(await kinds(aHold(1n, 1n, { keyId: 7n }), aHold(2n, 1n, { keyId: 8n }))).toEqual([
          'key_inactive',
          'held',
        ]);
        clock.advance(1_000);
        expect(await kinds(aHold(3n, 1n, { keyId: 8n }))).toEqual(['key_inactive']);
      });

      it('lets an unlimited account fall below zero, and counts', async () => {
        await store.createAccount(anAccount(2n, { kind: 'unlimited' }));
        expect(await kinds(aHold(1n, 700n, { accountId: 2n }), aSettle(1n, 600n))).toEqual(['held', 'settled']);
        expect(await balance(2n)).toEqual([-600n, 0n, 600n]);
      });

      it('refuses sums beyond 64 bits before they are made', async () => {
        await store.createAccount(anAccount(2n, { kind: 'unlimited' }));
        const near = INT64_MAX - 10n;
        const hold = (id: bigint, amount: bigint) => aHold(id, amount, { accountId: 2n });
        expect(await kinds(hold(1n, near), hold(2n, 11n), hold(3n, 10n), aSettle(1n, near), hold(4n, 1n))).toEqual([
          'held',
          'out_of_range',
          'held',
          'settled',
          'out_of_range',
        ]);
        expect((await store.verify()).violations).toEqual([]);
      });
    });

    describe('settle', () => {
      beforeEach(async () => {
        await store.apply([aCredit(1n, 1_000n), aHold(1n, 400n)]);
      });

      it('happens once; the first settlement stands', async () => {
        expect(await kinds(aSettle(1n, 150n))).toEqual(['settled']);
        expect(await store.apply([aSettle(1n, 30n)])).toEqual([{ kind: 'settle_repeated', costNanousd: 150n }]);
        expect(await balance()).toEqual([850n, 0n, 150n]);
      });

      it('charges nothing for a hold that was voided', async () => {
        const outcomes = await kinds({ kind: 'void', id: 1n, reason: 'gone' }, aSettle(1n, 150n));
        expect(outcomes).toEqual(['voided', 'settle_found_void']);
        expect(await balance()).toEqual([1_000n, 0n, 0n]);
      });

      it('stays between nothing and the hold, with components that make up the cost', async () => {
        const components = { freshNanousd: 1n, cacheWriteNanousd: 2n, cacheReadNanousd: 3n, outputNanousd: 4n };
        expect(
          await kinds(
            aSettle(1n, -1n),
            aSettle(1n, 401n),
            aSettle(1n, 2n ** 70n),
            aSettle(1n, 11n, { components }),
            aSettle(1n, 10n, { components: { ...components, freshNanousd: -1n, outputNanousd: 6n } }),
            aSettle(5n, 0n),
          ),
        ).toEqual(['negative', 'exceeds_hold', 'exceeds_hold', 'components_wrong', 'components_wrong', 'no_hold']);
        expect(await kinds(aSettle(1n, 10n, { components }))).toEqual(['settled']);
        expect((await store.findReceipt(1n, 1n))?.components).toEqual(components);
      });

      it('takes all of the hold and none of it', async () => {
        await store.apply([aHold(2n, 600n), aSettle(1n, 400n), aSettle(2n, 0n)]);
        expect(await balance()).toEqual([600n, 0n, 400n]);
      });
    });

    describe('void', () => {
      it('gives the hold back and notes the loss, once', async () => {
        await store.apply([aCredit(1n, 1_000n), aHold(1n, 400n)]);
        clock.advance(5_000);
        const operation = { kind: 'void', id: 1n, reason: 'Its owner is gone.' } as const;
        expect(await kinds(operation, operation, { ...operation, id: 9n })).toEqual([
          'voided',
          'void_not_open',
          'void_not_open',
        ]);
        expect(await balance()).toEqual([1_000n, 0n, 0n]);
        expect(await store.findReceipt(1n, 1n)).toMatchObject({
          state: 'voided',
          ended: 'died',
          endedMs: NOON_MS + 5_000,
          httpStatus: null,
          costNanousd: 0n,
          lossNanousd: 400n,
          lossReason: 'Its owner is gone.',
        });
      });
    });

    describe('credit', () => {
      it('credits a reference once, and only with the same amount', async () => {
        expect(await store.apply([aCredit(1n, 500n, { reference: 'r' })])).toEqual([
          { kind: 'credited', balanceNanousd: 500n },
        ]);
        expect(await store.apply([aCredit(2n, 500n, { reference: 'r' })])).toEqual([
          { kind: 'credit_repeated', balanceNanousd: 500n },
        ]);
        await store.createAccount(anAccount(2n));
        expect(
          await kinds(aCredit(3n, 501n, { reference: 'r' }), aCredit(4n, 501n, { reference: 'r', accountId: 2n })),
        ).toEqual(['reference_differs', 'credited']);
      });

      it('debits no more than is available', async () => {
        await store.apply([aCredit(1n, 500n), aHold(1n, 200n)]);
        expect(await kinds(aCredit(2n, -301n), aCredit(3n, -300n), aCredit(4n, -1n))).toEqual([
          'exceeds_available',
          'credited',
          'exceeds_available',
        ]);
        expect(await balance()).toEqual([200n, 200n, 0n]);
        expect((await store.verify()).violations).toEqual([]);
      });

      it('refuses what is no credit', async () => {
        expect(
          await kinds(
            aCredit(1n, 0n),
            aCredit(2n, 2n ** 64n),
            aCredit(3n, 5n, { accountId: 9n }),
            aCredit(4n, INT64_MAX - 1n),
            aCredit(5n, 2n),
          ),
        ).toEqual(['zero', 'out_of_range', 'no_account', 'credited', 'out_of_range']);
      });
    });

    describe('receipts', () => {
      const usage = {
        freshTokens: 11,
        cacheReadTokens: 12,
        cacheWriteTokens: 13,
        cacheWrite1hTokens: 14,
        outputTokens: 15,
        reasoningTokens: 9,
      };

      it('tell all that was said at hold and at settle', async () => {
        await store.createKey(aKey(7n, 1n));
        const components = { freshNanousd: 1n, cacheWriteNanousd: 2n, cacheReadNanousd: 3n, outputNanousd: 4n };
        const open = aHold(1n, 400n, { keyId: 7n, stream: true, labels: { user: 'ü', '': '{}' } });
        await store.apply([aCredit(1n, 1_000n), open]);
        const whileOpen = {
          id: 1n,
          accountId: 1n,
          keyId: 7n,
          state: 'open',
          route: '/v1/chat/completions',
          stream: true,
          requestedModel: 'vendor/model',
          effectiveModel: 'model',
          priceVersion: 'prices-1',
          heldNanousd: 400n,
          createdMs: NOON_MS,
          labels: { user: 'ü', '': '{}' },
          endedMs: null,
          ended: null,
          httpStatus: null,
          usageSource: 'none',
          usage: null,
          components: null,
          costNanousd: 0n,
          host: null,
          attempts: 0,
          lossNanousd: 0n,
          lossReason: null,
        };
        expect(await store.findReceipt(1n, 1n)).toEqual(whileOpen);
        const settlement = {
          ended: 'client_gone',
          httpStatus: 499,
          usageSource: 'drained',
          usage,
          components,
          costNanousd: 10n,
          host: 'host-b',
          attempts: 2,
          lossNanousd: 5n,
          lossReason: 'The first host billed too.',
        } as const;
        await store.apply([{ kind: 'settle', id: 1n, endedMs: NOON_MS + 77, settlement }]);
        const settled = { ...whileOpen, ...settlement, state: 'settled', endedMs: NOON_MS + 77 };
        expect(await store.findReceipt(1n, 1n)).toEqual(settled);
        expect(await store.listReceipts(ALL_RECEIPTS, FIRST_PAGE)).toEqual([settled]);
      });

      it('are found by their account or by the operator, not by others', async () => {
        await store.apply([aCredit(1n, 1_000n), aHold(1n, 1n)]);
        expect((await store.findReceipt(1n, 1n))?.id).toBe(1n);
        expect((await store.findReceipt(1n, null))?.id).toBe(1n);
        expect(await store.findReceipt(1n, 2n)).toBeNull();
        expect(await store.findReceipt(2n ** 65n, null)).toBeNull();
      });

      it('are listed newest first, by filter and page', async () => {
        await store.createAccount(anAccount(2n, { kind: 'unlimited' }));
        await store.createKey(aKey(7n, 2n));
        const hold = (id: bigint, keyId: bigint | null) =>
          aHold(id, 0n, { accountId: keyId === null ? 1n : 2n, keyId, createdMs: NOON_MS + Number(id) });
        await store.apply([hold(3n, null), hold(1n, 7n), hold(4n, 7n), hold(2n, null)]);
        const list = async (filter: Partial<typeof ALL_RECEIPTS>, page = FIRST_PAGE) =>
          (await store.listReceipts({ ...ALL_RECEIPTS, ...filter }, page)).map((receipt) => Number(receipt.id));
        expect(await list({})).toEqual([4, 3, 2, 1]);
        expect(await list({}, { limit: 2, after: 4n })).toEqual([3, 2]);
        expect(await list({ accountId: 1n })).toEqual([3, 2]);
        expect(await list({ keyId: 7n })).toEqual([4, 1]);
        expect(await list({ sinceMs: NOON_MS + 3 })).toEqual([4, 3]);
        expect(await list({ accountId: 2n, sinceMs: NOON_MS + 2 }, { limit: 5, after: 4n })).toEqual([]);
      });
    });

    describe('accounts', () => {
      it('are found by id and by name, and have a name of their own', async () => {
        expect(await store.createAccount(anAccount(5n, { name: 'account-1' }))).toBe('name_taken');
        expect(await store.createAccount(anAccount(5n, { name: 'five', kind: 'unlimited' }))).toBe('created');
        await expect(store.createAccount(anAccount(5n, { name: 'six' }))).rejects.toThrow();
        const five = { ...anAccount(5n, { name: 'five', kind: 'unlimited' }), ...NOTHING_YET };
        expect(await store.findAccount(5n)).toEqual(five);
        expect(await store.findAccount('five')).toEqual(five);
        expect(await store.findAccount('six')).toBeNull();
        expect(await store.findAccount(2n ** 70n)).toBeNull();
      });

      it('are listed by id, page by page', async () => {
        await store.createAccount(anAccount(3n));
        await store.createAccount(anAccount(2n));
        const ids = async (page: typeof FIRST_PAGE) => (await store.listAccounts(page)).map((account) => account.id);
        expect(await ids(FIRST_PAGE)).toEqual([1n, 2n, 3n]);
        expect(await ids({ limit: 1, after: 1n })).toEqual([2n]);
        expect(await ids({ limit: 1, after: 3n })).toEqual([]);
      });
    });

    describe('keys', () => {
      it('are kept as they were made, and belong to an account', async () => {
        const key = aKey(7n, 1n, { capNanousd: 5n, capWindow: 'week', expiresMs: NOON_MS + 9, models: ['a', 'ü/b'] });
        expect(await store.createKey(aKey(8n, 9n))).toBe('no_account');
        expect(await store.createKey(key)).toBe('created');
        await expect(store.createKey({ ...key, id: 8n })).rejects.toThrow();
        const row = { ...key, revokedMs: null, version: 1n };
        expect(await store.findKey(7n)).toEqual(row);
        expect(await store.findKeyByHash(key.sha256Hex)).toEqual(row);
        expect(await store.findKey(8n)).toBeNull();
        expect(await store.findKeyByHash('ff')).toBeNull();
      });

      it('change in what is named and nothing else, each change with the next version', async () => {
        await store.createKey(aKey(7n, 1n, { models: ['a'], expiresMs: NOON_MS }));
        await store.createKey(aKey(8n, 1n));
        expect(await store.updateKey(9n, { name: 'x' })).toBeNull();
        const changed = await store.updateKey(7n, { capNanousd: 9n, capWindow: 'day', models: null, expiresMs: null });
        const expected = { ...aKey(7n, 1n, { capNanousd: 9n, capWindow: 'day' }), revokedMs: null, version: 3n };
        expect(changed).toEqual(expected);
        expect(await store.findKey(7n)).toEqual(expected);
        const renamed = await store.updateKey(8n, { name: 'new', revokedMs: NOON_MS + 1 });
        expect(renamed).toEqual({ ...aKey(8n, 1n, { name: 'new' }), revokedMs: NOON_MS + 1, version: 4n });
      });

      it('are told to caches in the order of their last change', async () => {
        expect(await store.keysChangedSince(null)).toEqual({ version: 0n, keys: [] });
        await store.createKey(aKey(7n, 1n));
        await store.createKey(aKey(8n, 1n));
        await store.updateKey(7n, { name: 'later' });
        const changed = await store.keysChangedSince(0n);
        expect(changed.version).toBe(3n);
        expect(changed.keys.map((key) => key.id)).toEqual([8n, 7n]);
        expect((await store.keysChangedSince(2n)).keys.map((key) => key.name)).toEqual(['later']);
        expect(await store.keysChangedSince(3n)).toEqual({ version: 3n, keys: [] });
        expect(await store.keysChangedSince(null)).toEqual({ version: 3n, keys: [] });
      });

      it('are listed by account and page', async () => {
        await store.createAccount(anAccount(2n));
        for (const [id, account] of [
          [9n, 1n],
          [7n, 1n],
          [8n, 2n],
        ] as const)
          await store.createKey(aKey(id, account));
        const ids = async (account: bigint | null, page = FIRST_PAGE) =>
          (await store.listKeys(account, page)).map((key) => key.id);
        expect(await ids(null)).toEqual([7n, 8n, 9n]);
        expect(await ids(1n)).toEqual([7n, 9n]);
        expect(await ids(1n, { limit: 5, after: 7n })).toEqual([9n]);
        expect(await ids(null, { limit: 1, after: null })).toEqual([7n]);
      });
    });

    describe('key windows', () => {
      const DAY_MS = 86_400_000;
      const spend = async (id: bigint, amount: bigint, cost: bigint) =>
        kinds(aHold(id, amount, { keyId: 7n }), aSettle(id, cost));

      it('count by UTC day, week from Monday, month, or for ever', async () => {
        await store.apply([aCredit(1n, 1_000n)]);
        const at = (month: number, day: number) => Date.UTC(2026, month, day);
        const spans = {
          lifetime: [0, null],
          day: [at(2, 15), at(2, 16)],
          week: [at(2, 9), at(2, 16)],
          month: [at(2, 1), at(3, 1)],
        } as const;
        let id = 10n;
        for (const [window, [startMs, resetsMs]] of Object.entries(spans)) {
          await store.createKey(aKey(++id, 1n, { capWindow: window as keyof typeof spans }));
          await store.apply([aHold(id, 9n, { keyId: id })]);
          expect(await store.keyWindow(id)).toEqual({ window, startMs, resetsMs, spentNanousd: 0n, heldNanousd: 9n });
        }
        expect(await store.keyWindow(99n)).toBeNull();
      });

      it('open afresh when their time comes, while late settlements go to the window of their hold', async () => {
        await store.apply([aCredit(1n, 1_000n)]);
        await store.createKey(aKey(7n, 1n, { capNanousd: 100n, capWindow: 'day' }));
        expect(await spend(1n, 100n, 30n)).toEqual(['held', 'settled']);
        expect(await kinds(aHold(2n, 70n, { keyId: 7n }), aHold(3n, 1n, { keyId: 7n }))).toEqual(['held', 'key_cap']);
        clock.advance(DAY_MS);
        expect(await kinds(aHold(4n, 100n, { keyId: 7n }))).toEqual(['held']);
        expect(await kinds(aSettle(2n, 70n))).toEqual(['settled']);
        expect(await store.keyWindow(7n)).toMatchObject({ spentNanousd: 0n, heldNanousd: 100n });
        expect((await store.verify()).violations).toEqual([]);
      });

      it('never move back with the clock, also across a restart', async () => {
        await store.apply([aCredit(1n, 1_000n)]);
        await store.createKey(aKey(7n, 1n, { capNanousd: 100n, capWindow: 'day' }));
        clock.advance(DAY_MS);
        await spend(1n, 100n, 100n);
        clock.setNowMs(NOON_MS);
        expect(await kinds(aHold(2n, 1n, { keyId: 7n }))).toEqual(['key_cap']);
        store = await subject.reopen();
        expect(await kinds(aHold(3n, 1n, { keyId: 7n }))).toEqual(['key_cap']);
        expect(await store.keyWindow(7n)).toMatchObject({ startMs: Date.UTC(2026, 2, 16), spentNanousd: 100n });
      });

      it('start afresh when the kind of window changes, and go on when it changes back', async () => {
        await store.apply([aCredit(1n, 1_000n)]);
        await store.createKey(aKey(7n, 1n, { capNanousd: 100n, capWindow: 'day' }));
        clock.setNowMs(Date.UTC(2026, 5, 1, 8));
        await spend(1n, 100n, 100n);
        for (const capWindow of ['week', 'month', 'lifetime'] as const) {
          await store.updateKey(7n, { capWindow });
          expect(await store.keyWindow(7n)).toMatchObject({ window: capWindow, spentNanousd: 0n });
        }
        expect(await spend(2n, 60n, 60n)).toEqual(['held', 'settled']);
        await store.updateKey(7n, { capWindow: 'day' });
        expect(await kinds(aHold(3n, 1n, { keyId: 7n }))).toEqual(['key_cap']);
        expect((await store.verify()).violations).toEqual([]);
      });
    });

    describe('instances', () => {
      it('void the open holds of the lives before them, and fence those lives off', async () => {
        await store.createKey(aKey(7n, 1n, { capNanousd: 900n }));
        await store.apply([aCredit(1n, 1_000n), aHold(1n, 400n, { keyId: 7n }), aHold(2n, 300n), aSettle(2n, 100n)]);
        store = await subject.reopen();
        clock.advance(1_000);
        expect(await store.beginInstance()).toEqual({ number: 2, epoch: 2n, voidedHolds: 1 });
        expect(await balance()).toEqual([900n, 0n, 100n]);
        expect(await store.keyWindow(7n)).toMatchObject({ spentNanousd: 0n, heldNanousd: 0n });
        expect(await store.findReceipt(1n, 1n)).toMatchObject({
          state: 'voided',
          ended: 'died',
          endedMs: NOON_MS + 1_000,
          lossNanousd: 400n,
          lossReason: DIED_REASON,
        });
        expect(await kinds(aHold(3n, 1n), aHold(4n, 1n, { epoch: 2n }), aSettle(1n, 5n))).toEqual([
          'stale_epoch',
          'held',
          'settle_found_void',
        ]);
        expect((await store.verify()).lossNanousd).toBe(400n);
      });

      it('have a number that ids can carry', async () => {
        for (let life = 2; life <= 5; life++) expect((await store.beginInstance()).number).toBe(life);
      });
    });

    describe('price lists', () => {
      it('keep their number and never change', async () => {
        expect(await store.registerPrices('prices-2', '{}')).toBe(2);
        expect(await store.registerPrices('prices-1', '{"model":1}')).toBe(1);
        await expect(store.registerPrices('prices-2', '{"other":1}')).rejects.toThrow();
        await store.apply([aHold(1n, 0n, { priceId: 2 })]);
        expect((await store.findReceipt(1n, null))?.priceVersion).toBe('prices-2');
      });
    });

    describe('verify', () => {
      it('counts what there is and finds nothing wrong', async () => {
        await store.createKey(aKey(7n, 1n));
        await store.apply([aCredit(1n, 1_000n), aCredit(2n, -100n), aHold(1n, 400n, { keyId: 7n }), aHold(2n, 300n)]);
        await store.apply([aSettle(2n, 100n, { lossNanousd: 7n, lossReason: 'a host billed more' })]);
        expect(await store.verify()).toEqual({
          accounts: 1,
          keys: 1,
          receipts: 1,
          credits: 2,
          openHolds: 1,
          lossNanousd: 7n,
          violations: [],
        });
      });
    });

    describe('closing the books', () => {
      beforeEach(async () => {
        await store.createKey(aKey(7n, 1n));
        await store.apply([aCredit(1n, 1_000n)]);
        for (const id of [1n, 2n, 3n]) {
          await store.apply([aHold(id, 100n, { keyId: 7n, createdMs: clock.nowMs() }), aSettle(id, 10n * id)]);
          clock.advance(60_000);
        }
      });

      it('covers what can no longer change, and no more', async () => {
        expect(await store.closeBooks(null)).toEqual({ closed: 0, forgotten: 0 });
        clock.advance(LIMITS.closingAgeMs - 60_000);
        expect(await store.closeBooks(null)).toEqual({ closed: 3, forgotten: 0 });
        expect(await store.closeBooks(null)).toEqual({ closed: 0, forgotten: 0 });
        expect(await store.verify()).toMatchObject({ receipts: 3, violations: [] });
      });

      it('stops at an open hold', async () => {
        await store.apply([aHold(4n, 5n, { createdMs: clock.nowMs() }), aHold(5n, 5n, { createdMs: clock.nowMs() })]);
        await store.apply([aSettle(5n, 5n)]);
        clock.advance(10 * LIMITS.closingAgeMs);
        expect(await store.closeBooks(null)).toEqual({ closed: 3, forgotten: 0 });
        await store.apply([aSettle(4n, 5n)]);
        expect(await store.closeBooks(null)).toEqual({ closed: 2, forgotten: 0 });
        expect(await store.verify()).toMatchObject({ receipts: 5, violations: [] });
      });

      it('lets closed receipts be forgotten while the books still balance', async () => {
        clock.advance(LIMITS.closingAgeMs);
        expect(await store.closeBooks(NOON_MS + 60_000)).toEqual({ closed: 3, forgotten: 1 });
        expect(await store.findReceipt(1n, null)).toBeNull();
        expect((await store.findReceipt(2n, null))?.costNanousd).toBe(20n);
        expect(await store.verify()).toMatchObject({ receipts: 3, violations: [] });
        expect(await balance()).toEqual([940n, 0n, 60n]);
        expect(await store.keyWindow(7n)).toMatchObject({ spentNanousd: 60n });
        await store.apply([aHold(9n, 10n, { keyId: 7n }), aSettle(9n, 10n)]);
        expect(await store.closeBooks(NOON_MS * 2)).toEqual({ closed: 1, forgotten: 3 });
        expect(await store.verify()).toMatchObject({ receipts: 4, violations: [] });
      });

      it('lets no hold in below', async () => {
        clock.advance(LIMITS.closingAgeMs);
        await store.closeBooks(NOON_MS * 2);
        expect(await kinds(aHold(2n, 1n), aHold(4n, 1n))).toEqual(['operation_failed', 'held']);
      });
    });

    it('says that it is well', async () => {
      expect(await store.health()).toEqual({ ok: true, reason: null, mayAdmit: true });
    });
  });
}

const NOTHING_YET = { balanceNanousd: 0n, heldNanousd: 0n, spentNanousd: 0n };
