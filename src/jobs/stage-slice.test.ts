import { createHash } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { ask } from '../../test/gateway-fixture.ts';
import { JobsFixture, PLAIN_TERMS } from '../../test/jobs-fixture.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';

const HASH = createHash('sha256').update('the whole group').digest();

let fixture: JobsFixture;

beforeEach(async () => {
  fixture = await JobsFixture.open();
});

async function fillDisk(): Promise<void> {
  const reason = 'The disk is nearly full.';
  Object.assign(fixture.on.store, { health: async () => ({ ok: true, reason, mayAdmit: false }) });
  await fixture.on.ledger.watchHealth();
}

async function submitGroup(): Promise<unknown> {
  const intake = await fixture.jobs.openGroup(fixture.submission(Buffer.alloc(0)), PLAIN_TERMS);
  const body = Buffer.from(JSON.stringify(ask()));
  await intake.add([{ line: 1, endpoint: '/v1/chat/completions', body, customId: 'line-1' }]);
  return intake.accept(HASH);
}

test('stores no request of a job or a group while no call is admitted', async () => {
  await fillDisk();
  const stage = vi.spyOn(fixture.services.store, 'stage');
  await expect(fixture.submit()).rejects.toThrow('The disk is nearly full.');
  await expect(submitGroup()).rejects.toThrow('The disk is nearly full.');
  expect(stage).not.toHaveBeenCalled();
});

test('answers a submission that was accepted before the disk was full as the first time', async () => {
  const headers = { 'idempotency-key': 'one' };
  const { accepted } = await fixture.submit(ask(), {}, headers);
  await fillDisk();
  expect(await fixture.submit(ask(), {}, headers)).toMatchObject({ accepted: { id: accepted.id }, replayed: true });
});

test('deletes the request of a job that could not be accepted at once, because its client will send it again', async () => {
  const reserve = vi.spyOn(fixture.services.ledger, 'reserve').mockRejectedValue(new StoreUnavailable('away'));
  const dropped = vi.spyOn(fixture.services.store, 'dropStaged');
  await expect(fixture.submit()).rejects.toThrow('away');
  expect(dropped).toHaveBeenCalledWith(reserve.mock.calls[0]![0].id);
});

test('stores the large request of a single job in several commits, so that calls never wait for long', async () => {
  const { store } = fixture.services;
  const [stage, putChunks] = [vi.spyOn(store, 'stage'), vi.spyOn(store, 'putChunks')];
  const { accepted } = await fixture.submit(`${' '.repeat(2_500_000)}${JSON.stringify(ask())}`);
  expect(accepted.request.chunks).toBe(3);
  expect(stage.mock.calls.map(([jobs, chunks]) => [jobs.length, chunks.length])).toEqual([[1, 1]]);
  expect(putChunks.mock.calls.every(([chunks]) => chunks.length === 1)).toBe(true);
  expect((await fixture.services.contents.readRequest(accepted))?.length).toBeGreaterThan(2_500_000);
});
