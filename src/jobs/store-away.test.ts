import { beforeEach, expect, test, vi } from 'vitest';
import { chatAnswer, USAGE } from '../../test/fake-hosts.ts';
import { PRICE } from '../../test/gateway-fixture.ts';
import { ANY_READER, JobsFixture } from '../../test/jobs-fixture.ts';
import { until } from '../../test/until.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { RunEnd } from './job.ts';

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;

let fixture: JobsFixture;
let isAway: boolean;

beforeEach(async () => {
  fixture = await JobsFixture.open();
  isAway = false;
  const { store } = fixture.services;
  const { putChunks } = store;
  const away = () => Promise.reject(new StoreUnavailable('away'));
  Object.assign(store, {
    putChunks: (...args: Parameters<typeof putChunks>) => (isAway ? away() : putChunks(...args)),
  });
});

/** A job whose host has answered while the store is away. */
async function answered(): Promise<{ readonly id: bigint; readonly done: Promise<RunEnd> }> {
  const { accepted } = await fixture.submit();
  const { done } = await fixture.begin();
  isAway = true;
  (await fixture.on.hosts.next()).answer(200, chatAnswer());
  await until(() => fixture.on.clock.fallsDueIn(LIMITS.settleRetryMs), 'the response is to be stored again');
  return { id: accepted.id, done };
}

test('a response is stored and charged when the store is back, and its host is not asked again', async () => {
  const { id, done } = await answered();
  isAway = false;
  fixture.on.clock.advance(LIMITS.settleRetryMs);
  expect(await done).toEqual({ kind: 'ended', state: 'succeeded' });
  expect(await fixture.find(id)).toMatchObject({ costNanousd: COST_NANOUSD, attempts: 1 });
  expect((await fixture.jobs.result(ANY_READER, id)).status).toBe(200);
});

test('a job is not charged if the store stays away for as long as a call may take', async () => {
  const { id, done } = await answered();
  fixture.on.clock.advance(fixture.on.gateway.limits.bufferedMs);
  expect(await done).toEqual({ kind: 'ended', state: 'failed' });
  expect(await fixture.find(id)).toMatchObject({ costNanousd: 0n, errorCode: 'store_unavailable' });
});

test('a process that stops does not wait for a store that is away', async () => {
  const { id, done } = await answered();
  fixture.on.gateway.runningCalls.cutOff();
  fixture.on.clock.advance(LIMITS.settleRetryMs);
  expect(await done).toEqual({ kind: 'ended', state: 'failed' });
  expect(await fixture.find(id)).toMatchObject({ costNanousd: 0n, errorCode: 'store_unavailable' });
});

test('a job that was accepted is answered as it is stored, although it cannot be read, so that nobody pays for it twice', async () => {
  const { store } = fixture.services;
  const find = vi.spyOn(store, 'find').mockRejectedValueOnce(new StoreUnavailable('Too many queries are waiting.'));
  const { accepted, replayed } = await fixture.submit();
  find.mockRestore();
  expect(replayed).toBe(false);
  expect(await fixture.find(accepted.id)).toMatchObject(accepted);
  expect(await fixture.account()).toMatchObject({ reservedNanousd: accepted.reservedNanousd });
});
