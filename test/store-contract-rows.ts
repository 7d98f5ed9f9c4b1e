import { describe, expect, it } from 'vitest';
import { ALL_RECEIPTS, aCredit, aHold, aKey, anAccount, FIRST_PAGE, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

/** What is stored of a key that works. */
const UNSAID = { note: null, maxCostNanousd: null, ownerTerms: {}, usedMs: null };
const WORKING = { revokedMs: null, disabledMs: null, personDisabledMs: null, replaced: null, ...UNSAID };

/** Rows that can be created, changed and read. */
export function rowsContract(subject: StoreSubject): void {
  describe('receipts', () => {
    const usage = {
      freshTokens: 11,
      cacheReadTokens: 12,
      cacheWriteTokens: 13,
      cacheWrite1hTokens: 14,
      outputTokens: 15,
      reasoningTokens: 9,
    };

    it('contain every field of the hold and the settlement', async () => {
      await subject.store.createKey(aKey(7n, 1n));
      const components = { freshNanousd: 1n, cacheWriteNanousd: 2n, cacheReadNanousd: 3n, outputNanousd: 4n };
      const open = aHold(1n, 400n, { keyId: 7n, stream: true, labels: { user: 'ü', '': '{}' }, chain: 'c;2' });
      await subject.store.apply([aCredit(1n, 1_000n), open]);
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
        chain: 'c;2',
        personId: null,
        idempotencyKey: null,
        endedMs: null,
        ended: null,
        httpStatus: null,
        usageSource: 'none',
        usage: null,
        components: null,
        costNanousd: 0n,
        host: null,
        attempts: 0,
        tries: null,
        lossNanousd: 0n,
        lossReason: null,
        hangupCharged: null,
        adjusted: null,
        firstByteMs: null,
      };
      expect(await subject.store.findReceipt(1n, 1n)).toEqual(whileOpen);
      const settlement = {
        ended: 'client_gone',
        httpStatus: 499,
        usageSource: 'drained',
        usage,
        components,
        costNanousd: 10n,
        host: 'host-b',
        attempts: 2,
        tries: [
          { host: 'host-a', outcome: 'unavailable 500', ms: 12 },
          { host: 'host-b', outcome: 'client_gone', ms: 3_000 },
        ],
        lossNanousd: 5n,
        lossReason: 'The first host billed too.',
        hangupCharged: true,
        adjusted: 'seed=dropped,max_tokens=16384',
        firstByteMs: 412,
      } as const;
      await subject.store.apply([{ kind: 'settle', id: 1n, endedMs: NOON_MS + 77, settlement, kept: null }]);
      const settled = { ...whileOpen, ...settlement, state: 'settled', endedMs: NOON_MS + 77 };
      expect(await subject.store.findReceipt(1n, 1n)).toEqual(settled);
      expect(await subject.store.listReceipts(ALL_RECEIPTS, FIRST_PAGE)).toEqual([settled]);
    });

    it('are found by their account or by the operator, not by others', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 1n)]);
      expect((await subject.store.findReceipt(1n, 1n))?.id).toBe(1n);
      expect((await subject.store.findReceipt(1n, null))?.id).toBe(1n);
      expect(await subject.store.findReceipt(1n, 2n)).toBeNull();
      expect(await subject.store.findReceipt(2n ** 65n, null)).toBeNull();
    });

    it('are listed newest first, by filter and page', async () => {
      await subject.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
      await subject.store.createKey(aKey(7n, 2n));
      const hold = (id: bigint, keyId: bigint | null) =>
        aHold(id, 0n, { accountId: keyId === null ? 1n : 2n, keyId, createdMs: NOON_MS + Number(id) });
      await subject.store.apply([hold(3n, null), hold(1n, 7n), hold(4n, 7n), hold(2n, null)]);
      const list = async (filter: Partial<typeof ALL_RECEIPTS>, page = FIRST_PAGE) =>
        (await subject.store.listReceipts({ ...ALL_RECEIPTS, ...filter }, page)).map((receipt) => Number(receipt.id));
      expect(await list({})).toEqual([4, 3, 2, 1]);
      expect(await list({}, { limit: 2, after: 4n })).toEqual([3, 2]);
      expect(await list({ accountId: 1n })).toEqual([3, 2]);
      expect(await list({ keyId: 7n })).toEqual([4, 1]);
      expect(await list({ sinceMs: NOON_MS + 3 })).toEqual([4, 3]);
      expect(await list({ accountId: 2n, sinceMs: NOON_MS + 2 }, { limit: 5, after: 4n })).toEqual([]);
    });
  });

  describe('accounts', () => {
    it('are found by id and by name, and have unique names', async () => {
      expect(await subject.store.createAccount(anAccount(5n, { name: 'account-1' }))).toBe('name_taken');
      expect(await subject.store.createAccount(anAccount(5n, { name: 'five', kind: 'unlimited' }))).toBe('created');
      await expect(subject.store.createAccount(anAccount(5n, { name: 'six' }))).rejects.toThrow();
      const five = { ...anAccount(5n, { name: 'five', kind: 'unlimited' }), ...NOTHING_YET };
      expect(await subject.store.findAccount(5n)).toEqual(five);
      expect(await subject.store.findAccount('five')).toEqual(five);
      expect(await subject.store.findAccount('six')).toBeNull();
      expect(await subject.store.findAccount(2n ** 70n)).toBeNull();
    });

    it('are listed by id, page by page', async () => {
      await subject.store.createAccount(anAccount(3n));
      await subject.store.createAccount(anAccount(2n));
      const ids = async (page: typeof FIRST_PAGE) =>
        (await subject.store.listAccounts(page)).map((account) => account.id);
      expect(await ids(FIRST_PAGE)).toEqual([1n, 2n, 3n]);
      expect(await ids({ limit: 1, after: 1n })).toEqual([2n]);
      expect(await ids({ limit: 1, after: 3n })).toEqual([]);
    });
  });

  describe('keys', () => {
    it('are stored unchanged, and belong to an account', async () => {
      const key = aKey(7n, 1n, { capNanousd: 5n, capWindow: 'week', expiresMs: NOON_MS + 9, models: ['a', 'ü/b'] });
      expect(await subject.store.createKey(aKey(8n, 9n))).toBe('no_account');
      expect(await subject.store.createKey(key)).toBe('created');
      await expect(subject.store.createKey({ ...key, id: 8n })).rejects.toThrow();
      const row = { ...key, ...WORKING, version: 1n };
      expect(await subject.store.findKey(7n)).toEqual(row);
      expect(await subject.store.findKeyByHash(key.sha256Hex)).toEqual(row);
      expect(await subject.store.findKey(8n)).toBeNull();
      expect(await subject.store.findKeyByHash('ff')).toBeNull();
    });

    it('change only in the given members, each change with the next version', async () => {
      await subject.store.createKey(aKey(7n, 1n, { models: ['a'], expiresMs: NOON_MS }));
      await subject.store.createKey(aKey(8n, 1n));
      expect(await subject.store.updateKey(9n, { name: 'x' })).toBeNull();
      const changed = await subject.store.updateKey(7n, {
        capNanousd: 9n,
        capWindow: 'day',
        models: null,
        expiresMs: null,
      });
      const expected = { ...aKey(7n, 1n, { capNanousd: 9n, capWindow: 'day' }), ...WORKING, version: 3n };
      expect(changed).toEqual(expected);
      expect(await subject.store.findKey(7n)).toEqual(expected);
      const renamed = await subject.store.updateKey(8n, { name: 'new', revokedMs: NOON_MS + 1 });
      expect(renamed).toEqual({ ...aKey(8n, 1n, { name: 'new' }), ...WORKING, revokedMs: NOON_MS + 1, version: 4n });
    });

    it('are granted permissions and lose them, without touching anything else', async () => {
      await subject.store.createKey(aKey(7n, 1n, { models: ['a'] }));
      await subject.store.createKey(aKey(8n, 1n, { permissions: ['provider_keys'] }));
      const permissions = async (id: bigint) => (await subject.store.findKey(id))?.permissions;
      expect([await permissions(7n), await permissions(8n)]).toEqual([[], ['provider_keys']]);
      const granted = await subject.store.updateKey(7n, { allow: ['provider_keys'] });
      expect(granted).toEqual({
        ...aKey(7n, 1n, { models: ['a'], permissions: ['provider_keys'] }),
        ...WORKING,
        version: 3n,
      });
      await subject.store.updateKey(7n, { name: 'renamed' });
      await subject.store.updateKey(8n, { deny: ['provider_keys'] });
      await subject.reopen();
      expect([await permissions(7n), await permissions(8n)]).toEqual([['provider_keys'], []]);
    });

    it('keep what they do with fields that cannot be translated until it is changed', async () => {
      await subject.store.createKey(aKey(7n, 1n));
      await subject.store.createKey(aKey(8n, 1n, { onUnsupported: 'drop' }));
      const choice = async (id: bigint) => (await subject.store.findKey(id))?.onUnsupported;
      expect([await choice(7n), await choice(8n)]).toEqual(['refuse', 'drop']);
      await subject.store.updateKey(7n, { onUnsupported: 'drop' });
      await subject.store.updateKey(8n, { name: 'renamed' });
      await subject.reopen();
      expect([await choice(7n), await choice(8n)]).toEqual(['drop', 'drop']);
      expect(await subject.store.updateKey(8n, { onUnsupported: 'refuse' })).toMatchObject({ onUnsupported: 'refuse' });
    });

    it('are listed for caches in the order of their last change', async () => {
      expect(await subject.store.keysChangedSince(null)).toEqual({ version: 0n, keys: [] });
      await subject.store.createKey(aKey(7n, 1n));
      await subject.store.createKey(aKey(8n, 1n));
      await subject.store.updateKey(7n, { name: 'later' });
      const changed = await subject.store.keysChangedSince(0n);
      expect(changed.version).toBe(3n);
      expect(changed.keys.map((key) => key.id)).toEqual([8n, 7n]);
      expect((await subject.store.keysChangedSince(2n)).keys.map((key) => key.name)).toEqual(['later']);
      expect(await subject.store.keysChangedSince(3n)).toEqual({ version: 3n, keys: [] });
      expect(await subject.store.keysChangedSince(null)).toEqual({ version: 3n, keys: [] });
    });

    it('are listed by account and page', async () => {
      await subject.store.createAccount(anAccount(2n));
      for (const [id, account] of [
        [9n, 1n],
        [7n, 1n],
        [8n, 2n],
      ] as const)
        await subject.store.createKey(aKey(id, account));
      const ids = async (account: bigint | null, page = FIRST_PAGE) =>
        (await subject.store.listKeys(account, page)).map((key) => key.id);
      expect(await ids(null)).toEqual([7n, 8n, 9n]);
      expect(await ids(1n)).toEqual([7n, 9n]);
      expect(await ids(1n, { limit: 5, after: 7n })).toEqual([9n]);
      expect(await ids(null, { limit: 1, after: null })).toEqual([7n]);
    });
  });

  describe('price lists', () => {
    it('keep their number and never change', async () => {
      expect(await subject.store.registerPrices('prices-2', '{}')).toBe(2);
      expect(await subject.store.registerPrices('prices-1', '{"model":1}')).toBe(1);
      await expect(subject.store.registerPrices('prices-2', '{"other":1}')).rejects.toThrow();
      await subject.store.apply([aHold(1n, 0n, { priceId: 2 })]);
      expect((await subject.store.findReceipt(1n, null))?.priceVersion).toBe('prices-2');
    });
  });
}

const NOTHING_YET = {
  status: 'active',
  version: 1n,
  balanceNanousd: 0n,
  heldNanousd: 0n,
  reservedNanousd: 0n,
  spentNanousd: 0n,
  lossHour: 0,
  lostNanousd: 0n,
};
