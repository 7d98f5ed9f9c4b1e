import { beforeEach, describe, expect, it } from 'vitest';
import type { NewProviderKey, ProviderKeyRow } from '../src/store/store.ts';
import { anAccount, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

function aProviderKey(id: bigint, over: Partial<NewProviderKey> = {}): NewProviderKey {
  return {
    id,
    accountId: 1n,
    provider: 'cloud',
    baseUrl: 'https://resource.example/openai/v1',
    lastFour: 'wxyz',
    sealed: Uint8Array.of(0, 255, Number(id)),
    createdMs: NOON_MS + Number(id),
    verifiedMs: NOON_MS + 2 * Number(id),
    ...over,
  };
}

/** Buffers and plain byte arrays contain the same bytes. */
function plain(row: ProviderKeyRow | NewProviderKey | null): unknown {
  return row === null ? null : { rejectedMs: null, usedMs: null, ...row, sealed: [...row.sealed] };
}

/** Provider keys in custody. */
export function custodyContract(subject: StoreSubject): void {
  describe('provider keys', () => {
    beforeEach(async () => {
      await subject.store.createAccount(anAccount(2n));
    });

    it('are stored unchanged, and found by account and provider only', async () => {
      await subject.store.putProviderKey(aProviderKey(5n));
      await subject.reopen();
      expect(plain(await subject.store.findProviderKey(1n, 'cloud'))).toEqual(plain(aProviderKey(5n)));
      expect(await subject.store.findProviderKey(2n, 'cloud')).toBeNull();
      expect(await subject.store.findProviderKey(1n, 'other')).toBeNull();
      expect(await subject.store.findProviderKey(2n ** 70n, 'cloud')).toBeNull();
      await expect(subject.store.putProviderKey(aProviderKey(6n, { accountId: 9n }))).rejects.toThrow();
    });

    it('replace the previous one, and keep the creation time of the first', async () => {
      await subject.store.putProviderKey(aProviderKey(5n));
      await subject.store.putProviderKey(aProviderKey(7n, { lastFour: '7777' }));
      await subject.store.putProviderKey(aProviderKey(8n, { accountId: 2n }));
      const replaced = aProviderKey(7n, { lastFour: '7777', createdMs: aProviderKey(5n).createdMs });
      expect((await subject.store.listProviderKeys(1n)).map(plain)).toEqual([plain(replaced)]);
      expect((await subject.store.listProviderKeys(2n)).map((row) => row.id)).toEqual([8n]);
      await expect(subject.store.putProviderKey(aProviderKey(8n))).rejects.toThrow();
      expect(plain(await subject.store.findProviderKey(1n, 'cloud'))).toEqual(plain(replaced));
    });

    it('replace a key that is named by its id only if it is still stored', async () => {
      const { store } = subject;
      await store.putProviderKey(aProviderKey(4n, { accountId: 2n }));
      expect(await store.putProviderKey(aProviderKey(6n), undefined, 5n)).toBe('changed');
      expect(await store.putProviderKey(aProviderKey(6n), undefined, 4n)).toBe('changed');
      expect(await store.findProviderKey(1n, 'cloud')).toBeNull();
      await store.putProviderKey(aProviderKey(5n));
      expect(await store.putProviderKey(aProviderKey(6n), undefined, 5n)).toBe('stored');
      expect(await store.putProviderKey(aProviderKey(7n), undefined, 5n)).toBe('changed');
      const stored = aProviderKey(6n, { createdMs: aProviderKey(5n).createdMs });
      expect((await store.listProviderKeys(1n)).map(plain)).toEqual([plain(stored)]);
      expect((await store.listProviderKeys(2n)).map(({ id }) => id)).toEqual([4n]);
    });

    it('are listed by provider, and all of them by id', async () => {
      await subject.store.putProviderKey(aProviderKey(5n, { provider: 'b' }));
      await subject.store.putProviderKey(aProviderKey(6n, { provider: 'a' }));
      await subject.store.putProviderKey(aProviderKey(4n, { provider: 'a', accountId: 2n }));
      expect((await subject.store.listProviderKeys(1n)).map((row) => row.provider)).toEqual(['a', 'b']);
      expect(await subject.store.listProviderKeys(3n)).toEqual([]);
      const ids = async (after: bigint | null, limit: number) =>
        (await subject.store.providerKeysAfter(after, limit)).map((row) => row.id);
      expect(await ids(null, 2)).toEqual([4n, 5n]);
      expect(await ids(5n, 2)).toEqual([6n]);
      expect(await ids(6n, 2)).toEqual([]);
    });

    it('remember since when they are refused and when they were used, until they are replaced', async () => {
      const times = async () => {
        const row = await subject.store.findProviderKey(1n, 'cloud');
        return [row?.rejectedMs, row?.usedMs];
      };
      await subject.store.putProviderKey(aProviderKey(5n));
      await subject.store.putProviderKey(aProviderKey(6n, { accountId: 2n }));
      expect(await times()).toEqual([null, null]);
      await subject.store.noteProviderKeyUse(5n, { usedMs: NOON_MS });
      expect(await times()).toEqual([null, NOON_MS]);
      await subject.store.noteProviderKeyUse(5n, { usedMs: NOON_MS + 1, rejected: true });
      await subject.store.noteProviderKeyUse(5n, { usedMs: NOON_MS + 2, rejected: true });
      await subject.store.noteProviderKeyUse(5n, { usedMs: NOON_MS + 3 });
      await subject.reopen();
      expect(await times()).toEqual([NOON_MS + 1, NOON_MS + 3]);
      await subject.store.noteProviderKeyUse(5n, { usedMs: NOON_MS + 4, rejected: false });
      expect(await times()).toEqual([null, NOON_MS + 4]);
      await subject.store.noteProviderKeyUse(5n, { usedMs: NOON_MS + 5, rejected: true });
      await subject.store.putProviderKey(aProviderKey(7n));
      expect(await times()).toEqual([null, null]);
      await subject.store.noteProviderKeyUse(5n, { usedMs: NOON_MS + 6, rejected: true });
      expect(await times()).toEqual([null, null]);
      expect(plain(await subject.store.findProviderKey(2n, 'cloud'))).toEqual(
        plain(aProviderKey(6n, { accountId: 2n })),
      );
    });

    it('are gone once deleted', async () => {
      await subject.store.putProviderKey(aProviderKey(5n));
      expect(await subject.store.deleteProviderKey(2n, 'cloud')).toBe(false);
      expect(await subject.store.deleteProviderKey(1n, 'cloud')).toBe(true);
      expect(await subject.store.deleteProviderKey(1n, 'cloud')).toBe(false);
      expect(await subject.store.findProviderKey(1n, 'cloud')).toBeNull();
    });

    it('are re-encrypted only if they have not changed meanwhile', async () => {
      await subject.store.putProviderKey(aProviderKey(5n));
      const [before, after] = [aProviderKey(5n).sealed, Uint8Array.of(1, 2)];
      expect(await subject.store.resealProviderKey(5n, Uint8Array.of(9), after)).toBe(false);
      expect(await subject.store.resealProviderKey(6n, before, after)).toBe(false);
      expect(await subject.store.resealProviderKey(5n, before, after)).toBe(true);
      expect(await subject.store.resealProviderKey(5n, before, after)).toBe(false);
      const row = await subject.store.findProviderKey(1n, 'cloud');
      expect(plain(row)).toEqual(plain(aProviderKey(5n, { sealed: after })));
    });
  });
}
