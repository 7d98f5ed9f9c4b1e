import { beforeEach, expect, test } from 'vitest';
import { chatAnswer } from '../../test/fake-hosts.ts';
import { ask } from '../../test/gateway-fixture.ts';
import { ANY_READER, JobsFixture } from '../../test/jobs-fixture.ts';
import { aKey } from '../../test/store-fixtures.ts';
import type { Clock } from '../kit/clock.ts';
import { run } from './job.ts';
import { JobSink } from './job-sink.ts';

/** When a job is too late to start. The clock of the ledger decides, which replicas share. */

const MINUTE_MS = 60_000;

let fixture: JobsFixture;
let id: bigint;

beforeEach(async () => {
  fixture = await JobsFixture.open();
  const { accepted } = await fixture.submit(ask(), { expiresMs: fixture.on.clock.nowMs() + MINUTE_MS });
  id = accepted.id;
});

test('a job that waits expires after its latest start', async () => {
  await fixture.housekeeping.work();
  expect(await fixture.find(id)).toMatchObject({ state: 'queued' });
  fixture.on.clock.advance(MINUTE_MS + 1);
  await fixture.housekeeping.work();
  expect(await fixture.find(id)).toMatchObject({ state: 'expired', costNanousd: 0n });
  expect(await fixture.account()).toMatchObject({ reservedNanousd: 0n });
});

test('a job that expires says why it waited', async () => {
  const { clock, store } = fixture.on;
  await fixture.jobs.cancel(ANY_READER, id);
  await store.createKey(aKey(7n, 1n));
  fixture.on.caller = { accountId: 1n, keyId: 7n, key: await store.findKey(7n) };
  const { accepted } = await fixture.submit(ask(), { expiresMs: clock.nowMs() + MINUTE_MS });
  await store.updateKey(7n, { disabledMs: clock.nowMs() });
  expect(await (await fixture.begin()).done).toMatchObject({ kind: 'returned' });
  const why = { attempts: 0, errorCode: 'key_inactive', errorMessage: expect.stringContaining('disabled') };
  expect(await fixture.find(accepted.id)).toMatchObject({ state: 'queued', ...why });
  clock.advance(MINUTE_MS + 1);
  await fixture.housekeeping.work();
  expect(await fixture.find(accepted.id)).toMatchObject({ state: 'expired', ...why });
  await expect(fixture.jobs.result(ANY_READER, accepted.id)).rejects.toThrow('disabled');
});

test('a job that is claimed after its latest start expires, and calls no host', async () => {
  fixture.on.clock.advance(MINUTE_MS + 1);
  const { done } = await fixture.begin();
  expect(await done).toEqual({ kind: 'ended', state: 'expired' });
  expect(await fixture.find(id)).toMatchObject({ state: 'expired', costNanousd: 0n });
  expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: 0n });
});

test('a job runs whose latest start has not passed for the ledger, although the clock of this process is ahead', async () => {
  const { clock, hosts } = fixture.on;
  const ahead: Clock = {
    nowMs: () => clock.nowMs() + 2 * MINUTE_MS,
    monotonicMs: () => clock.monotonicMs(),
    after: (ms, later) => clock.after(ms, later),
  };
  const services = { ...fixture.services, gateway: { ...fixture.services.gateway, clock: ahead } };
  const done = run(services, await fixture.claim(), new JobSink());
  const asked = await Promise.race([hosts.next(), done]);
  if ('answer' in asked) asked.answer(200, chatAnswer());
  expect(await done).toEqual({ kind: 'ended', state: 'succeeded' });
});
