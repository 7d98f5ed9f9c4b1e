import { describe, expect, it } from 'vitest';
import type { KeyRow } from '../src/store/store.ts';
import { aCredit, aHold, aKey, aSettle, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

const UNSAID = { note: null, maxCostNanousd: null, ownerTerms: {}, usedMs: null };
const ACTIVE = { revokedMs: null, disabledMs: null, personDisabledMs: null, ...UNSAID };

function aSecret(letter: string): { sha256Hex: string; prefix: string; lastFour: string } {
  return { sha256Hex: letter.repeat(64), prefix: `tg_live_${letter.repeat(4)}`, lastFour: letter.repeat(4) };
}

/** Changes of keys beyond their settings. */
export function keysContract(subject: StoreSubject): void {
  describe('rotating a key', () => {
    const rotate = (letter: string, oldExpiresMs = NOON_MS + 1_000) =>
      subject.store.rotateKey(7n, { secret: aSecret(letter), oldExpiresMs });
    const byHash = async (sha256Hex: string): Promise<KeyRow | null> => subject.store.findKeyByHash(sha256Hex);

    it('replaces the secret and finds the key by both, with everything else unchanged', async () => {
      const key = aKey(7n, 1n, { capNanousd: 5n, models: ['a'], permissions: ['provider_keys'] });
      await subject.store.createKey(key);
      expect(await rotate('b')).toBe('rotated');
      const replaced = { sha256Hex: key.sha256Hex, expiresMs: NOON_MS + 1_000 };
      const expected = { ...key, ...aSecret('b'), ...ACTIVE, replaced, version: 2n };
      await subject.reopen();
      expect(await byHash(aSecret('b').sha256Hex)).toEqual(expected);
      expect(await byHash(key.sha256Hex)).toEqual(expected);
      expect(await subject.store.keysChangedSince(1n)).toEqual({ version: 2n, keys: [expected] });
      expect(await subject.store.listKeys(1n, { limit: 5, after: null })).toEqual([expected]);
    });

    it('ends the oldest secret of a key that is rotated again', async () => {
      const key = aKey(7n, 1n);
      await subject.store.createKey(key);
      await rotate('b');
      await rotate('c', NOON_MS + 9_000);
      expect(await byHash(key.sha256Hex)).toBeNull();
      const replaced = { sha256Hex: aSecret('b').sha256Hex, expiresMs: NOON_MS + 9_000 };
      expect(await byHash(aSecret('b').sha256Hex)).toMatchObject({ id: 7n, replaced });
      expect(await byHash(aSecret('c').sha256Hex)).toMatchObject({ id: 7n, replaced, version: 3n });
    });

    it('changes nothing of a key that has another version by then', async () => {
      const key = aKey(7n, 1n);
      await subject.store.createKey(key);
      const rotateFirst = (letter: string) =>
        subject.store.rotateKey(7n, { secret: aSecret(letter), oldExpiresMs: NOON_MS + 1_000, version: 1n });
      expect(await rotateFirst('b')).toBe('rotated');
      expect(await rotateFirst('c')).toBe('version_conflict');
      expect(await byHash(aSecret('c').sha256Hex)).toBeNull();
      expect(await byHash(key.sha256Hex)).toMatchObject({ ...aSecret('b'), version: 2n });
    });

    it('changes nothing of a key that is revoked or does not exist', async () => {
      expect(await rotate('b')).toBe('no_key');
      await subject.store.createKey(aKey(7n, 1n));
      await subject.store.updateKey(7n, { revokedMs: NOON_MS });
      expect(await rotate('b')).toBe('revoked');
      expect(await byHash(aSecret('b').sha256Hex)).toBeNull();
      expect(await subject.store.findKey(7n)).toMatchObject({ replaced: null, version: 2n });
    });
  });

  it('stores a note and the most that one call may cost, and changes them', async () => {
    await subject.store.createKey(aKey(7n, 1n, { note: 'für ü', maxCostNanousd: 5n }));
    expect(await subject.store.findKey(7n)).toMatchObject({ note: 'für ü', maxCostNanousd: 5n });
    const changed = await subject.store.updateKey(7n, { note: null, maxCostNanousd: 9n });
    expect(changed).toMatchObject({ note: null, maxCostNanousd: 9n, version: 2n });
  });

  it('stores what an owner fixed for a key, and changes it', async () => {
    const ownerTerms = {
      capNanousd: 2n ** 62n,
      capWindow: 'day',
      maxCostNanousd: 9n,
      models: ['a'],
      expiresMs: 5,
    } as const;
    await subject.store.createKey(aKey(7n, 1n, { ownerTerms }));
    expect((await subject.store.findKey(7n))?.ownerTerms).toEqual(ownerTerms);
    expect(await subject.store.updateKey(7n, { name: 'x' })).toMatchObject({ ownerTerms });
    expect(await subject.store.updateKey(7n, { ownerTerms: {} })).toMatchObject({ ownerTerms: {}, version: 3n });
  });

  it('notes when keys were used, never going back, without a change of their version', async () => {
    for (const id of [7n, 8n]) await subject.store.createKey(aKey(id, 1n));
    await subject.store.noteKeyUses(
      new Map([
        [7n, NOON_MS],
        [9n, NOON_MS],
      ]),
    );
    await subject.store.noteKeyUses(new Map([[7n, NOON_MS - 1]]));
    const keys = await subject.store.listKeys(null, { limit: 5, after: null });
    expect(keys.map(({ usedMs, version }) => [usedMs, version])).toEqual([
      [NOON_MS, 1n],
      [null, 2n],
    ]);
  });

  it('adds up what several keys have spent and hold in their windows', async () => {
    await subject.store.createKey(aKey(7n, 1n, { capNanousd: 500n, capWindow: 'day' }));
    await subject.store.createKey(aKey(8n, 1n));
    await subject.store.createKey(aKey(9n, 1n, { capWindow: 'month' }));
    const hold = (id: bigint, keyId: bigint) => aHold(id, 100n, { keyId });
    await subject.store.apply([aCredit(1n, 1_000n), hold(1n, 7n), aSettle(1n, 60n), hold(2n, 7n), hold(3n, 8n)]);
    const keys = await subject.store.listKeys(null, { limit: 5, after: null });
    const resetsMs = Date.UTC(2026, 2, 16);
    expect(await subject.store.spendingOf(keys)).toEqual(
      new Map([
        [7n, { spentNanousd: 60n, heldNanousd: 100n, reservedNanousd: 0n, resetsMs }],
        [8n, { spentNanousd: 0n, heldNanousd: 100n, reservedNanousd: 0n, resetsMs: null }],
        [9n, { spentNanousd: 0n, heldNanousd: 0n, reservedNanousd: 0n, resetsMs: Date.UTC(2026, 3, 1) }],
      ]),
    );
    subject.clock.setNowMs(resetsMs);
    await subject.store.apply([aSettle(2n, 100n)]);
    expect((await subject.store.spendingOf(keys)).get(7n)).toMatchObject({ spentNanousd: 0n, heldNanousd: 0n });
  });

  describe('changing a key that was read before', () => {
    it('is refused if somebody else has changed it since', async () => {
      await subject.store.createKey(aKey(7n, 1n));
      const change = (name: string, version: bigint) => subject.store.updateKey(7n, { name }, undefined, version);
      expect(await change('first', 1n)).toMatchObject({ name: 'first', version: 2n });
      expect(await change('second', 1n)).toBe('version_conflict');
      expect(await subject.store.findKey(7n)).toMatchObject({ name: 'first', version: 2n });
      expect(await subject.store.updateKey(8n, { name: 'x' }, undefined, 1n)).toBeNull();
    });
  });
}
