import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { placeOf } from '../src/custody/custody.ts';
import { MasterKeyring } from '../src/custody/keyring.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { IdSource } from '../src/kit/ids.ts';
import { rotateSeals } from '../src/operator/seal.ts';
import { openPostgres, openSqliteInline } from './store-engines.ts';
import type { StoreUnderTest } from './store-fixtures.ts';

/** Who rotated the master keys is in the audit. */

const NOW_MS = Date.UTC(2026, 5, 1);
const ACTOR = { kind: 'command_line', id: null, name: 'ada', address: null } as const;
const EVERYTHING = { accountId: null, actorId: null, action: null, subject: null, sinceMs: null, untilMs: null };

describe.each([
  ['SQLite', openSqliteInline],
  ['PostgreSQL', openPostgres],
])('on %s', (_, openEngine) => {
  let opened: StoreUnderTest;
  let folder: string;
  let keyFile: string;
  let keyring: MasterKeyring;
  const clock = new ManualClock(NOW_MS);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-seal-'));
    keyFile = join(folder, 'master.key');
    keyring = new MasterKeyring({ kind: 'own-file', path: keyFile, source: keyFile });
    opened = await openEngine(clock);
  });
  afterEach(async () => {
    await opened.dispose();
    rmSync(folder, { recursive: true });
  });

  function rotate(input: { new_key: boolean; after: string | null }) {
    const { store } = opened;
    return rotateSeals({ store, clock, ids: new IdSource(clock, 1), actor: ACTOR, masterKeys: () => keyring }, input);
  }

  const audited = () => opened.store.directory.listAudit(EVERYTHING, { before: null, limit: 10 });

  async function storeKey(): Promise<void> {
    const place = { id: 7n, accountId: 1n, provider: 'cloud', baseUrl: 'https://resource.example/openai/v1' };
    const sealed = keyring.sealer.seal(randomBytes(8), placeOf(place));
    await opened.store.createAccount({ id: 1n, name: 'acme', kind: 'prepaid', createdMs: 1 });
    await opened.store.putProviderKey({ ...place, lastFour: '', sealed, createdMs: 1, verifiedMs: 1 });
  }

  test('a rotation of the master keys is in the audit once, by the ids of the keys and without the keys', async () => {
    await storeKey();
    const old = keyring.sealer.keyId;
    const { key, next } = await rotate({ new_key: true, after: null });
    await rotate({ new_key: false, after: next });
    const rows = await audited();
    expect(rows).toMatchObject([
      {
        atMs: NOW_MS,
        actorKind: 'command_line',
        actorName: 'ada',
        action: 'seal.rotate',
        subject: key,
        accountId: null,
        before: JSON.stringify({ keys: [old] }),
        after: JSON.stringify({ keys: [key, old], new_key: true }),
      },
    ]);
    const secrets = readFileSync(keyFile, 'utf8').match(/^[^#\s]+$/gm)!;
    expect(secrets).toHaveLength(2);
    const written = JSON.stringify(rows.map(({ before, after, subject }) => [before, after, subject]));
    for (const secret of secrets) expect(written).not.toContain(secret);
  });

  test('a rotation that cannot be written to the audit re-encrypts nothing', async () => {
    await storeKey();
    const before = await opened.store.providerKeysAfter(null, 1);
    vi.spyOn(opened.store.directory, 'writeAudit').mockRejectedValue(new Error('away'));
    await expect(rotate({ new_key: true, after: null })).rejects.toThrow('away');
    expect(await opened.store.providerKeysAfter(null, 1)).toEqual(before);
  });
});
