import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { type KeyRow, StoreUnavailable } from '../store/store.ts';
import { createAccount, mintKey } from './accounts.ts';
import { KeyDirectory } from './key-directory.ts';
import { mintSecret } from './keys.ts';

const START_MS = Date.UTC(2026, 0, 1);
let clock: ManualClock;
let store: MemoryStore;
let ids: IdSource;
let accountId: bigint;
let directory: KeyDirectory;

beforeEach(async () => {
  clock = new ManualClock(START_MS);
  store = new MemoryStore(clock);
  ids = new IdSource(clock, 1);
  const account = await createAccount({ store, clock, ids }, { name: 'ada', kind: 'prepaid' });
  if (account === 'name_taken') throw new Error('taken');
  accountId = account.id;
  directory = new KeyDirectory(store, clock);
  await directory.start();
});

async function mint(expiresMs: number | null = null): Promise<{ key: KeyRow; text: string }> {
  const request = {
    accountId,
    name: 'k',
    capNanousd: null,
    capWindow: 'lifetime' as const,
    expiresMs,
    models: null,
    permissions: [],
    onUnsupported: 'refuse' as const,
  };
  const minted = await mintKey({ store, clock, ids }, request);
  if (typeof minted === 'string') throw new Error('no account');
  return { key: minted.key, text: minted.secret.reveal() };
}

/** Lets a poll that was just triggered run to its end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    clock.advance(100);
    await settle();
  }
}

describe('after the store was put back to an older state', () => {
  test('keys are read again, and neither a lookup nor a poll from before is remembered', async () => {
    const { text } = await mint();
    const { key, text: other } = await mint();
    await directory.find(text);
    const answers: (() => void)[] = [];
    const later = <Answer>(answer: Answer) => new Promise<Answer>((resolve) => answers.push(() => resolve(answer)));
    const find = vi.spyOn(store, 'findKeyByHash').mockImplementationOnce(() => later({ ...key, name: 'lost' }));
    const poll = vi.spyOn(store, 'keysChangedSince').mockImplementationOnce(() => later({ version: 99n, keys: [] }));
    const [early, polled] = [directory.find(other), directory.refresh()];
    await settle();
    directory.forget();
    for (const answer of answers) answer();
    await Promise.all([early, polled]);
    expect(poll).toHaveBeenLastCalledWith(null);
    expect(await directory.find(other)).toMatchObject({ name: 'k' });
    expect(await directory.find(text)).toMatchObject({ name: 'k' });
    expect(find).toHaveBeenCalledTimes(3);
  });
});

describe('finding', () => {
  test('a key is read from the store once, and then found in memory', async () => {
    const { key, text } = await mint();
    const read = vi.spyOn(store, 'findKeyByHash');
    expect(await directory.find(text)).toMatchObject({ id: key.id, accountId });
    expect(directory.find(text)).toMatchObject({ id: key.id });
    expect(read).toHaveBeenCalledTimes(1);
  });

  test('concurrent calls with the same key share one lookup', async () => {
    const { key, text } = await mint();
    const read = vi.spyOn(store, 'findKeyByHash');
    const found = await Promise.all([directory.find(text), directory.find(text), directory.find(text)]);
    expect(found.map((row) => row?.id)).toEqual([key.id, key.id, key.id]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  test('a mistyped or malformed key is refused without asking the store', () => {
    const read = vi.spyOn(store, 'findKeyByHash');
    const text = mintSecret().secret.reveal();
    const typo = text.slice(0, -1) + (text.endsWith('a') ? 'b' : 'a');
    for (const secret of ['', 'sk-other', typo]) expect(directory.find(secret)).toBeNull();
    expect(read).not.toHaveBeenCalled();
  });

  test('an unknown key is remembered as unknown for a while, unless it is minted meanwhile', async () => {
    const read = vi.spyOn(store, 'findKeyByHash');
    const stranger = mintSecret().secret.reveal();
    expect(await directory.find(stranger)).toBeNull();
    expect(directory.find(stranger)).toBeNull();
    expect(read).toHaveBeenCalledTimes(1);
    await advance(LIMITS.keyMissMs + 100);
    expect(await directory.find(stranger)).toBeNull();
    expect(read).toHaveBeenCalledTimes(2);
  });

  test('a key that is created after a failed lookup is found after the next poll', async () => {
    const minted = mintSecret();
    expect(await directory.find(minted.secret.reveal())).toBeNull();
    const { secret, ...stored } = minted;
    const row = {
      accountId,
      personId: null,
      name: '',
      capNanousd: null,
      capWindow: 'day' as const,
      expiresMs: null,
      models: null,
      permissions: [],
      onUnsupported: 'refuse' as const,
    };
    await store.createKey({ ...row, ...stored, id: ids.next(), createdMs: START_MS });
    expect(directory.find(secret.reveal())).toBeNull();
    await advance(LIMITS.keyPollMs);
    expect(await directory.find(secret.reveal())).toMatchObject({ accountId });
  });

  test('a key is refused from the millisecond of its expiry on, even if it is cached', async () => {
    const { text } = await mint(START_MS + 500);
    expect(await directory.find(text)).not.toBeNull();
    clock.advance(499);
    expect(directory.find(text)).not.toBeNull();
    clock.advance(1);
    expect(directory.find(text)).toBeNull();
  });
});

describe('a rotation by another process', () => {
  const rotate = async (id: bigint, oldExpiresMs: number): Promise<string> => {
    const { secret, ...stored } = mintSecret();
    await store.rotateKey(id, { secret: stored, oldExpiresMs });
    return secret.reveal();
  };

  test('gives a secret that works at once, while the old one works until its time, to the millisecond', async () => {
    const { key, text } = await mint();
    await directory.find(text);
    const next = await rotate(key.id, START_MS + LIMITS.keyPollMs + 500);
    expect(await directory.find(next)).toMatchObject({ id: key.id });
    await advance(LIMITS.keyPollMs);
    expect(directory.find(text)).toMatchObject({ id: key.id });
    clock.advance(499);
    expect(directory.find(text)).toMatchObject({ id: key.id });
    clock.advance(1);
    expect([directory.find(text), directory.find(next)]).toMatchObject([null, { id: key.id }]);
  });

  test('that is the second one ends the oldest secret within two seconds', async () => {
    const { key, text } = await mint();
    const second = await rotate(key.id, START_MS + 3_600_000);
    expect([await directory.find(text), await directory.find(second)]).not.toContain(null);
    const third = await rotate(key.id, START_MS + 3_600_000);
    await advance(LIMITS.keyStalenessMs);
    expect(await directory.find(text)).toBeNull();
    expect([await directory.find(second), await directory.find(third)]).not.toContain(null);
  });
});

test('a key that no longer fits in memory is not trusted by a secret that still does', async () => {
  const small = new KeyDirectory(store, clock, 2);
  await small.start();
  const [first, second, third] = [await mint(), await mint(), await mint()];
  for (const { text } of [first, second]) await small.find(text);
  const { secret, ...stored } = mintSecret();
  await store.rotateKey(first.key.id, { secret: stored, oldExpiresMs: START_MS });
  for (const text of [secret.reveal(), third.text]) expect(await small.find(text)).not.toBeNull();
  await store.updateKey(first.key.id, { revokedMs: START_MS });
  await small.refresh();
  expect(await small.find(secret.reveal())).toBeNull();
});

describe('the last use of a key', () => {
  test('is noted now and then, for all keys at once, and kept for later if the store cannot', async () => {
    const [one, two] = [await mint(), await mint()];
    const note = vi.spyOn(store, 'noteKeyUses');
    for (const { text } of [one, two, one]) await directory.find(text);
    await advance(LIMITS.keyUseMs - 1_000);
    expect(note).not.toHaveBeenCalled();
    note.mockRejectedValueOnce(new Error('gone'));
    await advance(2_000);
    expect(await store.findKey(one.key.id)).toMatchObject({ usedMs: null });
    await advance(LIMITS.keyUseMs + 1_000);
    expect(note).toHaveBeenCalledTimes(2);
    for (const { key } of [one, two]) expect(await store.findKey(key.id)).toMatchObject({ usedMs: START_MS });
    await advance(LIMITS.keyUseMs + 1_000);
    expect(note).toHaveBeenCalledTimes(2);
  });
});

describe('revocation', () => {
  test('by another process takes effect within two seconds', async () => {
    const { key, text } = await mint();
    await directory.find(text);
    await store.updateKey(key.id, { revokedMs: START_MS });
    await advance(LIMITS.keyStalenessMs);
    expect(await directory.find(text)).toBeNull();
  });

  test('in this process takes effect as soon as refresh has run', async () => {
    const { key, text } = await mint();
    await directory.find(text);
    await store.updateKey(key.id, { revokedMs: START_MS });
    await directory.refresh();
    expect(directory.find(text)).toBeNull();
  });

  test('a refresh during a poll sees changes made after that poll began', async () => {
    const { key, text } = await mint();
    await directory.find(text);
    const gate = Promise.withResolvers<void>();
    const real = store.keysChangedSince.bind(store);
    vi.spyOn(store, 'keysChangedSince').mockImplementationOnce(async (version) => {
      const answer = await real(version);
      await gate.promise;
      return answer;
    });
    const early = directory.refresh();
    await settle();
    await store.updateKey(key.id, { revokedMs: START_MS });
    const late = directory.refresh();
    gate.resolve();
    await Promise.all([early, late]);
    expect(directory.find(text)).toBeNull();
  });

  test('a lookup that ends after a newer poll does not cache its older row', async () => {
    const { key, text } = await mint();
    const gate = Promise.withResolvers<void>();
    const real = store.findKeyByHash.bind(store);
    vi.spyOn(store, 'findKeyByHash').mockImplementationOnce(async (hash) => {
      const row = await real(hash);
      await gate.promise;
      return row;
    });
    const early = directory.find(text);
    await store.updateKey(key.id, { revokedMs: START_MS });
    await directory.refresh();
    gate.resolve();
    await early;
    expect(await directory.find(text)).toBeNull();
  });

  test('one poll learns all changes, even if they fill several pages', async () => {
    const { key, text } = await mint();
    await directory.find(text);
    for (let index = 0; index < LIMITS.storePageRowsMax + 5; index++) await mint();
    await store.updateKey(key.id, { revokedMs: START_MS });
    await directory.refresh();
    expect(directory.find(text)).toBeNull();
  });
});

describe('when the store does not answer', () => {
  test('cached keys are trusted for two seconds and no longer', async () => {
    const { key, text } = await mint();
    await directory.find(text);
    const broken = vi.spyOn(store, 'keysChangedSince').mockRejectedValue(new Error('gone'));
    await advance(LIMITS.keyStalenessMs - 100);
    expect(directory.find(text)).toMatchObject({ id: key.id });
    await advance(200);
    await expect(directory.find(text)).rejects.toThrow(StoreUnavailable);
    broken.mockRestore();
    expect(await directory.find(text)).toMatchObject({ id: key.id });
    expect(directory.find(text)).toMatchObject({ id: key.id });
  });

  test('callers wait a limited time for a poll that hangs, then get an error', async () => {
    const { text } = await mint();
    await directory.find(text);
    vi.spyOn(store, 'keysChangedSince').mockReturnValue(new Promise(() => {}));
    await advance(LIMITS.keyStalenessMs + 1100);
    const asked = Promise.resolve(directory.find(text));
    const refused = expect(asked).rejects.toThrow(StoreUnavailable);
    await advance(LIMITS.keyRefreshWaitMs);
    await refused;
  });

  test('a failed lookup is an error, not an unknown key', async () => {
    const { text } = await mint();
    vi.spyOn(store, 'findKeyByHash').mockRejectedValueOnce(new Error('gone'));
    await expect(directory.find(text)).rejects.toThrow(StoreUnavailable);
    expect(await directory.find(text)).not.toBeNull();
  });

  test('the number of concurrent lookups is limited', async () => {
    vi.spyOn(store, 'findKeyByHash').mockReturnValue(new Promise(() => {}));
    for (let count = 0; count < LIMITS.keyLookupsMax; count++) void directory.find(mintSecret().secret.reveal());
    await expect(directory.find(mintSecret().secret.reveal())).rejects.toThrow('Too many');
  });
});

test('a stopped directory sets no more timers', async () => {
  expect(clock.pendingTimers).toBe(1);
  directory.stop();
  expect(clock.pendingTimers).toBe(0);
});

test('a key is found by its id unless it is revoked or has expired, and that is a use', async () => {
  const { key } = await mint(START_MS + 60_000);
  const { key: other } = await mint();
  expect(await directory.findById(key.id)).toMatchObject({ id: key.id });
  await store.updateKey(other.id, { revokedMs: START_MS });
  expect(await directory.findById(other.id)).toBeNull();
  await advance(LIMITS.keyUseMs + LIMITS.keyPollMs);
  expect((await store.findKey(key.id))?.usedMs).toBe(START_MS);
  expect((await store.findKey(other.id))?.usedMs).toBeNull();
  clock.advance(60_000);
  expect(await directory.findById(key.id)).toBeNull();
  expect(await directory.findById(5n)).toBeNull();
});
