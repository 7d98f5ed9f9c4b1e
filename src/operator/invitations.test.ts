import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { operatorServices, verbRunner } from '../../test/operator-services.ts';
import { hashSecret } from '../accounts/keys.ts';
import { ManualClock } from '../kit/clock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { OperatorServices } from './operator.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
let folder: string;
let store: Store;
let clock: ManualClock;
let services: OperatorServices;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-invitations-'));
  clock = new ManualClock(NOW_MS);
  await copyEmptyLedger(folder);
  store = await openSqliteStore({ folder, clock, threads: false });
  services = operatorServices({ store, clock });
  await run('accounts.create', { name: 'ada' });
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const run = verbRunner(() => services);

describe('an invitation', () => {
  test('is a link under the public address, with a secret that is stored only as a hash', async () => {
    const invited = await run('people.invite', { email: 'a@example.com', account: 'ada', role: 'owner' });
    expect(invited.link).toBe(`https://gateway.example/console/join#${invited.secret}`);
    expect(Buffer.from(invited.secret, 'base64url')).toHaveLength(32);
    expect(invited).toMatchObject({ status: 'open', role: 'owner', expires: NOW_MS / 1000 + 86_400 });
    expect(await store.directory.findInvitation(hashSecret(invited.secret))).not.toBeNull();
    const kept = JSON.stringify((await run('audit.list', {})).data);
    expect(kept).not.toContain(invited.secret);
  });

  test('expires, and can be revoked once', async () => {
    const { id } = await run('people.invite', { email: 'a@example.com' });
    clock.advance(24 * 3_600_000);
    expect((await run('invitations.list', {})).data).toMatchObject([{ status: 'expired' }]);
    expect(await run('invitations.revoke', { invitation: id })).toMatchObject({ status: 'revoked' });
    await expect(run('invitations.revoke', { invitation: id })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is listed by its status, and an unknown status is refused with the known ones', async () => {
    const { id } = await run('people.invite', { email: 'a@example.com' });
    const other = await run('people.invite', { email: 'b@example.com' });
    await run('invitations.revoke', { invitation: id });
    const listed = async (status: 'open' | 'revoked' | 'expired') =>
      (await run('invitations.list', { status })).data.map((each) => [each.id, each.status]);
    expect(await listed('open')).toEqual([[other.id, 'open']]);
    expect(await listed('revoked')).toEqual([[id, 'revoked']]);
    clock.advance(24 * 3_600_000);
    expect(await listed('open')).toEqual([]);
    expect(await listed('expired')).toEqual([[other.id, 'expired']]);
    expect((await run('invitations.list', {})).data).toHaveLength(2);
    await expect(run('invitations.list', { status: 'ended' as never })).rejects.toThrow(
      'status must be one of "open", "accepted", "revoked", "expired".',
    );
  });

  test.each([
    [{ email: 'nobody' }, 'email must be an email address.'],
    [{ email: 'a@b', role: 'owner' }, 'account and role belong together: name both, or neither.'],
    [{ email: 'a@b', account: 'zoe', role: 'owner' }, 'There is no account "zoe".'],
    [{ email: 'a@b', account: 'ada', role: 'king' }, /^role must be/],
  ])('of %j is refused', async (input, message) => {
    await expect(run('people.invite', input as never)).rejects.toThrow(message);
  });
});
