import { chmodSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { placeOf } from '../custody/custody.ts';
import { readMasterKeys } from '../custody/master-keys.ts';
import { MasterSealer } from '../custody/seal.ts';
import { LIMITS } from '../limits.ts';

let cli: CliFixture;

beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

function sealer(): MasterSealer {
  return new MasterSealer(readMasterKeys({ kind: 'own-file', path: cli.keyFile, source: 'here' }));
}

async function store(count: number, moved = 0): Promise<void> {
  const seal = sealer();
  for (let id = 1n; id <= count; id++) {
    await cli.store.createAccount({ id, name: `a${id}`, kind: 'prepaid', createdMs: 1 });
    const place = { id, accountId: id, provider: 'cloud', baseUrl: 'https://resource.example/openai/v1' };
    const sealed = seal.seal(Buffer.from('secret'), placeOf(id <= moved ? { ...place, accountId: 999n } : place));
    await cli.store.putProviderKey({ ...place, lastFour: '', sealed, createdMs: 1, verifiedMs: 1 });
  }
}

test('rotates to a new key in pages, and says what was done', async () => {
  const count = LIMITS.sealRotationRows + 3;
  await store(count);
  const before = sealer().keyId;
  const rotated = await cli.run(['seal', 'rotate', '--new-key', '--json']);
  const totals = JSON.parse(rotated.out);
  expect([rotated.code, totals]).toMatchObject([0, { examined: count, rewrapped: count, unreadable: 0, next: null }]);
  expect(totals.key).toBe(sealer().keyId);
  expect(totals.key).not.toBe(before);
  const status = await cli.run(['seal', 'status', '--json']);
  expect([status.code, JSON.parse(status.out)]).toMatchObject([
    0,
    {
      rows: count,
      unreadable: 0,
      keys: [
        { id: totals.key, use: 'seals', rows: count },
        { id: before, use: 'opens', rows: 0 },
      ],
    },
  ]);
  const again = await cli.run(['seal', 'rotate']);
  expect(again.out).toMatch(new RegExp(`up to date +${count}`));
  expect(again.err).toContain('Keep the older ones for another day');
});

test('never advises to remove the only master key', async () => {
  await store(1);
  const rotated = await cli.run(['seal', 'rotate']);
  expect([rotated.code, rotated.err]).toEqual([0, expect.stringContaining('is in use: keep it')]);
});

test('lists keys that cannot be decrypted, and exits with 1', async () => {
  await store(2, 1);
  const status = await cli.run(['seal', 'status']);
  expect([status.code, status.out]).toEqual([1, expect.stringMatching(/cannot be decrypted +1/)]);
  expect(status.err).toMatch(/acct_\w+: the key stored for "cloud" cannot be decrypted/);
  const rotated = await cli.run(['seal', 'rotate', '--new-key']);
  expect([rotated.code, rotated.out]).toEqual([1, expect.stringMatching(/re-encrypted +1/)]);
});

test('refuses a master key file that others can read, and says what to do', async () => {
  await store(1);
  chmodSync(cli.keyFile, 0o644);
  const status = await cli.run(['seal', 'status']);
  expect([status.code, status.err]).toEqual([1, expect.stringContaining('chmod 600')]);
});

test('config check and doctor report a missing master key, and where the keys come from', async () => {
  const local = await cli.run(['config', 'check']);
  expect([local.code, local.out]).toEqual([0, expect.stringContaining('the first start makes it')]);
  const hosted = await cli.run(['config', 'check', '--hosted']);
  expect([hosted.code, hosted.err]).toEqual([1, expect.stringContaining('set TOLLGATE_MASTER_KEY')]);
  const weak = await cli.run(['config', 'check', '--json'], { TOLLGATE_MASTER_KEY: 'hunter2hunter2' });
  expect([weak.code, weak.out]).toEqual([1, expect.stringContaining('not 32 bytes')]);
  expect(weak.out).not.toContain('hunter2');
  const doctor = await cli.run(['doctor', '--json', '--hosted', '--port', '0']);
  expect(JSON.parse(doctor.out).checks).toContainEqual(
    expect.objectContaining({ check: 'master key', status: 'failure' }),
  );
});
