import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { aChunk, aJob, aReserve } from '../../test/job-fixtures.ts';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { operatorServices, verbRunner } from '../../test/operator-services.ts';
import { aCredit } from '../../test/store-fixtures.ts';
import { KeyDirectory } from '../accounts/key-directory.ts';
import { hashSecret } from '../accounts/keys.ts';
import { buildCatalog } from '../catalog/catalog.ts';
import { loadSimulatedFile } from '../catalog/load.ts';
import { ManualClock } from '../kit/clock.ts';
import { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { type OperatorServices, runVerb, type VerbInput, type VerbResult } from './operator.ts';

const FILE = loadSimulatedFile();
const CATALOG = buildCatalog({ rows: FILE.models, hosts: new Set(['sim']), version: FILE.version });
const NOW_MS = Date.UTC(2026, 5, 1);
let folder: string;
let store: Store;
let clock: ManualClock;
let directory: KeyDirectory;
let services: OperatorServices;
const refresh = vi.fn(() => directory.refresh());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
  clock = new ManualClock(NOW_MS);
  await copyEmptyLedger(folder);
  store = await openSqliteStore({ folder, clock, threads: false });
  directory = new KeyDirectory(store, clock);
  services = operatorServices({ store, clock, catalog: () => CATALOG, directory: { refresh } });
  await run('accounts.create', { name: 'ada' });
  refresh.mockClear();
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const run = verbRunner(() => services);

let minted: VerbResult<'keys.mint'>;
const mintOne = async () => {
  minted = await run('keys.mint', { account: 'ada', spend_cap_nanousd: 100, window: 'month' });
};

const rotate = (input: Omit<VerbInput<'keys.rotate'>, 'key'> = {}) => run('keys.rotate', { key: minted.id, ...input });

async function works(secret: string): Promise<boolean> {
  await directory.refresh();
  return (await directory.find(secret)) !== null;
}

describe('rotating a key', () => {
  beforeEach(mintOne);

  test('gives it a new secret, and the old one works for a day', async () => {
    const rotated = await rotate();
    expect(rotated).toMatchObject({ id: minted.id, spend_cap_nanousd: 100n, window: 'month', status: 'active' });
    expect(rotated.old_secret_expires_at).toBe((NOW_MS + LIMITS.keyGraceMs) / 1000);
    expect([await works(rotated.secret), await works(minted.secret)]).toEqual([true, true]);
    clock.advance(LIMITS.keyGraceMs - 1);
    expect(await works(minted.secret)).toBe(true);
    clock.advance(1);
    expect([await works(rotated.secret), await works(minted.secret)]).toEqual([true, false]);
    expect(await run('keys.show', { key: minted.id })).toMatchObject({ old_secret_expires_at: null });
  });

  test('with a grace of zero ends the old secret at once', async () => {
    expect(await works(minted.secret)).toBe(true);
    const { secret } = await rotate({ grace_seconds: 0 });
    // The old one first: asking for the new one would read the key again.
    expect([await works(minted.secret), await works(secret)]).toEqual([false, true]);
  });

  test('again ends the oldest secret', async () => {
    const second = await rotate();
    const third = await rotate({ grace_seconds: 60 });
    expect([await works(minted.secret), await works(second.secret), await works(third.secret)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('does not keep either secret from being revoked', async () => {
    const { secret } = await rotate();
    expect(await run('keys.revoke', { key: minted.id })).toMatchObject({ old_secret_expires_at: null });
    expect([await works(secret), await works(minted.secret)]).toEqual([false, false]);
    await expect(rotate()).rejects.toMatchObject({ code: 'refused' });
  });

  test('is in the audit, without a secret', async () => {
    const { secret, hint } = await rotate({ grace_seconds: 60 });
    const { data } = await run('audit.list', { action: 'key.rotate' });
    expect(data).toMatchObject([{ subject: minted.id, before: { hint: minted.hint }, after: { hint } }]);
    const text = JSON.stringify(data);
    for (const hidden of [secret, minted.secret]) expect(text).not.toContain(hidden.slice(8, -6));
  });

  test('refuses a grace beyond the limit', async () => {
    await expect(rotate({ grace_seconds: LIMITS.keyGraceMaxMs / 1000 + 1 })).rejects.toThrow('grace_seconds');
    await expect(rotate({ grace_seconds: -1 })).rejects.toThrow('grace_seconds');
  });
});

test('a change to an older version of a key is refused and writes no row of the audit', async () => {
  await mintOne();
  const { version } = await run('keys.show', { key: minted.id });
  expect(await run('keys.update', { key: minted.id, name: 'first', version })).toMatchObject({ name: 'first' });
  await expect(run('keys.update', { key: minted.id, name: 'second', version })).rejects.toMatchObject({
    code: 'version_conflict',
  });
  expect((await run('audit.list', { action: 'key.change' })).data).toHaveLength(1);
});

describe('keys', () => {
  test('are minted with their settings, shown once, and the directory is refreshed', async () => {
    const minted = await run('keys.mint', {
      account: 'ada',
      name: 'ci',
      spend_cap_nanousd: 100,
      window: 'month',
      expires_at: NOW_MS / 1000 + 60,
      models: ['sim-gpt', 'nonsense'],
    });
    expect(minted).toMatchObject({
      status: 'active',
      spend_cap_nanousd: 100n,
      window: 'month',
      unknown_models: ['nonsense'],
    });
    expect(minted.models).toEqual(['sim-gpt', 'nonsense']);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(await store.findKeyByHash(hashSecret(minted.secret))).toMatchObject({ name: 'ci' });
    const listed = await run('keys.list', { account: 'ada' });
    expect(listed.data).toMatchObject([
      { id: minted.id, hint: `${minted.secret.slice(0, 12)}…${minted.secret.slice(-4)}` },
    ]);
    expect(JSON.stringify(listed, (_, value) => String(value))).not.toContain(minted.secret);
  });

  test('are changed as an update says and keep the rest', async () => {
    const { id } = await run('keys.mint', { account: 'ada', name: 'ci', spend_cap_nanousd: 100, models: ['sim-gpt'] });
    expect(await run('keys.update', { key: id, window: 'day' })).toMatchObject({ window: 'day' });
    const changed = await run('keys.update', { key: id, spend_cap_nanousd: null });
    expect(changed).toMatchObject({ name: 'ci', spend_cap_nanousd: null, window: 'day', models: ['sim-gpt'] });
    await expect(run('keys.update', { key: id, window: 'month' })).rejects.toThrow('this key has no cap');
    await expect(run('keys.update', { key: id, window: 'day', spend_cap_nanousd: null })).rejects.toThrow('no cap');
    expect(await run('keys.update', { key: id, models: null })).toMatchObject({ models: null, window: 'day' });
    await expect(run('keys.update', { key: id })).rejects.toThrow('Name at least one setting');
    expect(refresh).toHaveBeenCalledTimes(4);
  });

  test('may only call models unless they are allowed more', async () => {
    const plain = await run('keys.mint', { account: 'ada' });
    expect(plain.permissions).toEqual(['calls']);
    const { id: key, permissions } = await run('keys.mint', { account: 'ada', allow: ['provider_keys'] });
    expect(permissions).toEqual(['calls', 'provider_keys']);
    expect(await run('keys.update', { key, name: 'other' })).toMatchObject({ permissions: ['calls', 'provider_keys'] });
    expect(await run('keys.update', { key, deny: ['provider_keys'] })).toMatchObject({ permissions: ['calls'] });
    const allowed = await run('keys.update', { key: plain.id, allow: ['provider_keys'] });
    expect(allowed).toMatchObject({ permissions: ['calls', 'provider_keys'] });
    const both = { allow: ['provider_keys'], deny: ['provider_keys'] } as const;
    await expect(run('keys.update', { key, allow: [...both.allow], deny: [...both.deny] })).rejects.toThrow(
      'provider_keys is in both allow and deny',
    );
    await expect(runVerb(services, 'keys.update', { key, allow: ['everything'] })).rejects.toThrow('allow[0]');
  });

  test('with a cap of zero or an expiry in the past or too far ahead are refused, when minted and when changed', async () => {
    const { id } = await run('keys.mint', { account: 'ada' });
    for (const [terms, message] of [
      [{ spend_cap_nanousd: 0 }, 'spend_cap_nanousd must be more than 0'],
      [{ spend_cap_nanousd: -1 }, 'spend_cap_nanousd must be more than 0'],
      [{ expires_at: NOW_MS / 1000 }, 'expires_at must be in the future'],
      [{ expires_at: NOW_MS / 1000 + 36_501 * 86_400 }, 'expires_at must be within 36500 days'],
      [{ expires_at: Number.MAX_SAFE_INTEGER }, 'expires_at must be within 36500 days'],
    ] as const) {
      await expect(run('keys.mint', { account: 'ada', ...terms })).rejects.toThrow(message);
      await expect(run('keys.update', { key: id, ...terms })).rejects.toThrow(message);
    }
  });

  test('with a window and no cap are refused, because nothing would be limited', async () => {
    const message = 'A window sets when a spend cap resets, but this key has no cap.';
    await expect(run('keys.mint', { account: 'ada', window: 'day' })).rejects.toThrow(message);
    const { id } = await run('keys.mint', { account: 'ada', window: 'lifetime' });
    await expect(run('keys.update', { key: id, window: 'day' })).rejects.toThrow(message);
  });

  test('lose cap and window together, as a form sends both', async () => {
    const { id } = await run('keys.mint', { account: 'ada', spend_cap_nanousd: 100, window: 'month' });
    const uncapped = await run('keys.update', { key: id, spend_cap_nanousd: null, window: 'lifetime' });
    expect(uncapped).toMatchObject({ spend_cap_nanousd: null, window: 'lifetime' });
  });

  test('are revoked at once and for good; the first time stands', async () => {
    const { id } = await run('keys.mint', { account: 'ada' });
    refresh.mockClear();
    const revoked = await run('keys.revoke', { key: id });
    expect(revoked).toMatchObject({ status: 'revoked', revoked_at: NOW_MS / 1000 });
    expect(refresh).toHaveBeenCalledTimes(1);
    clock.advance(5000);
    expect(await run('keys.revoke', { key: id })).toEqual(revoked);
  });

  test('end their waiting jobs when they are revoked again after the first time was interrupted', async () => {
    services = { ...services, ledger: new Ledger({ store, clock, epoch: 1n }) };
    const { id } = await run('keys.mint', { account: 'ada' });
    const [key] = await store.listKeys(null, { limit: 1, after: null });
    const of = { accountId: key!.accountId, keyId: key!.id };
    await store.jobs.stage([aJob(10n, 100n, of)], [aChunk(10n)]);
    const credit = aCredit(1n, 1_000n, { accountId: of.accountId });
    expect(await store.apply([credit, aReserve(10n, 100n, of)])).toMatchObject([{}, { kind: 'reserved' }]);
    vi.spyOn(store.jobs, 'waitingOf').mockRejectedValueOnce(new Error('killed'));
    await expect(run('keys.revoke', { key: id })).rejects.toThrow('killed');
    expect(await store.findAccount('ada')).toMatchObject({ reservedNanousd: 100n });
    expect(await run('keys.revoke', { key: id })).toMatchObject({ status: 'revoked' });
    expect(await store.findAccount('ada')).toMatchObject({ reservedNanousd: 0n });
  });

  test('a secret pasted in place of an id is not repeated', async () => {
    const { secret } = await run('keys.mint', { account: 'ada' });
    const refused = await run('keys.revoke', { key: secret }).catch((error: Error) => error.message);
    expect(refused).not.toContain(secret);
  });

  test('a directory that cannot be refreshed does not undo the change', async () => {
    const { id } = await run('keys.mint', { account: 'ada' });
    refresh.mockRejectedValueOnce(new Error('gone'));
    expect(await run('keys.revoke', { key: id })).toMatchObject({ status: 'revoked' });
  });
});

describe('disabling a key', () => {
  beforeEach(mintOne);

  test('stops it until it is enabled again, and is in the audit', async () => {
    const disabled = await run('keys.disable', { key: minted.id });
    expect(disabled).toMatchObject({ status: 'disabled', disabled_at: NOW_MS / 1000, revoked_at: null });
    clock.advance(5_000);
    expect(await run('keys.disable', { key: minted.id })).toEqual(disabled);
    expect(await run('keys.enable', { key: minted.id })).toMatchObject({ status: 'active', disabled_at: null });
    expect(await run('keys.enable', { key: minted.id })).toMatchObject({ status: 'active' });
    const { data } = await run('audit.list', { subject: minted.id });
    expect(data.map(({ action }) => action)).toEqual(['key.enable', 'key.disable', 'key.mint']);
  });

  test('does not bring a revoked key back when it is enabled', async () => {
    await run('keys.disable', { key: minted.id });
    await run('keys.revoke', { key: minted.id });
    const refused = { code: 'refused', message: 'This key is revoked for good. Create another.' };
    await expect(run('keys.enable', { key: minted.id })).rejects.toMatchObject(refused);
    expect(await works(minted.secret)).toBe(false);
  });

  test('does not say that a key is enabled that somebody revokes at the same time', async () => {
    await run('keys.disable', { key: minted.id });
    const update = store.updateKey.bind(store);
    vi.spyOn(store, 'updateKey').mockImplementationOnce(async (...change) => {
      await run('keys.revoke', { key: minted.id });
      return update(...change);
    });
    await expect(run('keys.enable', { key: minted.id })).rejects.toMatchObject({ code: 'refused' });
    expect(await run('keys.show', { key: minted.id })).toMatchObject({ status: 'revoked' });
  });
});

test('a key has a note and a limit per call, and shows its spending and its last use', async () => {
  const terms = { note: 'for the build', max_cost_nanousd: 50, allow: ['webhooks' as const] };
  const { id, secret } = await run('keys.mint', { account: 'ada', spend_cap_nanousd: 100, window: 'day', ...terms });
  const spending = {
    spent_nanousd: 0n,
    held_nanousd: 0n,
    reserved_nanousd: 0n,
    remaining_nanousd: 100n,
    resets_at: NOW_MS / 1000 + 86_400,
  };
  expect(await run('keys.show', { key: id })).toMatchObject({
    note: 'for the build',
    max_cost_nanousd: 50n,
    permissions: ['calls', 'webhooks'],
    last_used_at: null,
    ...spending,
  });
  await directory.start();
  await directory.find(secret);
  clock.advance(LIMITS.keyUseMs);
  await vi.waitFor(async () => {
    expect((await run('keys.list', {})).data).toMatchObject([{ last_used_at: NOW_MS / 1000, ...spending }]);
  });
  directory.stop();
  const changed = await run('keys.update', { key: id, note: null, max_cost_nanousd: null });
  expect(changed).toMatchObject({ note: null, max_cost_nanousd: null });
  await expect(run('keys.update', { key: id, max_cost_nanousd: 0 })).rejects.toThrow('must be more than 0');
  await expect(run('keys.update', { key: id, note: 'x'.repeat(501) })).rejects.toThrow('note');
});
