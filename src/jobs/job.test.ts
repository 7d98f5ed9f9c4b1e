import { beforeEach, describe, expect, test } from 'vitest';
import { chatAnswer, USAGE } from '../../test/fake-hosts.ts';
import { ask, PRICE } from '../../test/gateway-fixture.ts';
import { ANY_READER, JobsFixture } from '../../test/jobs-fixture.ts';
import { aKey } from '../../test/store-fixtures.ts';
import { manyTurns } from '../../test/until.ts';
import { buildCatalog } from '../catalog/catalog.ts';
import { LIMITS } from '../limits.ts';
import type { Job } from '../store/jobs.ts';

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;
const MINUTE_MS = 60_000;

let fixture: JobsFixture;

beforeEach(async () => {
  fixture = await JobsFixture.open();
});

describe('a submitted job', () => {
  test('is stored with its worst case reserved, and no hold', async () => {
    const { accepted, replayed } = await fixture.submit();
    expect(replayed).toBe(false);
    expect(accepted).toMatchObject({ state: 'queued', effectiveModel: 'ferry', attempts: 0, callId: null });
    expect(accepted.reservedNanousd).toBeGreaterThan(0n);
    expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: accepted.reservedNanousd });
  });

  test('is refused as its call would be, naming the field in the body, with nothing reserved', async () => {
    await expect(fixture.submit(ask({ max_tokens: -1 }))).rejects.toMatchObject({
      status: 400,
      param: 'body.max_tokens',
    });
    await expect(fixture.submit(ask({ model: 'barge' }))).rejects.toMatchObject({ status: 404, param: 'body.model' });
    await expect(fixture.submit(ask({ stream: true }))).rejects.toMatchObject({
      kind: 'unsupported_feature',
      param: 'body.stream',
    });
    expect(await fixture.account()).toMatchObject({ reservedNanousd: 0n });
    expect(fixture.on.refusals).toHaveLength(3);
  });

  test('names the endpoints if it is for none of them', async () => {
    const submitted = fixture.submit(ask(), {}, {}, { endpoint: '/v1/images' });
    await expect(submitted).rejects.toMatchObject({
      param: 'endpoint',
      message: expect.stringContaining('/v1/messages'),
    });
  });

  test('is refused for money now, and leaves nothing behind', async () => {
    const poor = await JobsFixture.open({ creditNanousd: 10n });
    await expect(poor.submit()).rejects.toMatchObject({ status: 402, kind: 'insufficient_allowance' });
    await expect(fixture.submit(ask(), {}, { 'x-gateway-max-cost-nanousd': '5' })).rejects.toMatchObject({
      kind: 'cost_ceiling_exceeded',
    });
    expect(await poor.jobs.list(ANY_READER, {}, { after: null, limit: 10 })).toEqual([]);
    expect(await poor.account()).toMatchObject({ reservedNanousd: 0n });
  });

  test('is accepted once under an idempotency key', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await fixture.submit(ask(), {}, headers);
    const again = await fixture.submit(ask(), {}, headers);
    expect([again.replayed, again.accepted.id]).toEqual([true, first.accepted.id]);
    expect(await fixture.account()).toMatchObject({ reservedNanousd: first.accepted.reservedNanousd });
    await expect(fixture.submit(ask({ max_tokens: 7 }), {}, headers)).rejects.toMatchObject({ status: 422 });
  });

  test('is not accepted again under a key that is kept for longer than its row, and the refusal says why', async () => {
    const headers = { 'idempotency-key': 'one' };
    const { accepted } = await fixture.submit(ask(), {}, headers);
    // Rows are deleted 30 days after their content, which callers may delete at once.
    Object.assign(fixture.services.store, { find: async () => null });
    await expect(fixture.submit(ask(), {}, headers)).rejects.toMatchObject({
      status: 409,
      kind: 'idempotency_finished',
      message: expect.stringContaining('Use a new key'),
    });
    expect(await fixture.account()).toMatchObject({ reservedNanousd: accepted.reservedNanousd });
  });

  test('is answered as the first time under its idempotency key, even if its model is gone', async () => {
    const headers = { 'idempotency-key': 'one' };
    const first = await fixture.submit(ask(), {}, headers);
    const catalog = buildCatalog({ rows: [], hosts: new Set(), version: '2026-02-02-x' });
    Object.assign(fixture.on.gateway, { prices: () => ({ catalog, priceId: 1 }) });
    const again = await fixture.submit(ask(), {}, headers);
    expect([again.replayed, again.accepted.id]).toEqual([true, first.accepted.id]);
    expect(fixture.on.refusals).toEqual([]);
    await expect(fixture.submit(ask({ max_tokens: 7 }), {}, headers)).rejects.toMatchObject({ status: 404 });
    await expect(fixture.submit()).rejects.toMatchObject({ status: 404 });
  });
});

describe('a job that runs', () => {
  test('starts from its reservation, is answered as a call is, and charges once', async () => {
    const { balanceNanousd } = await fixture.account();
    const { accepted } = await fixture.submit();
    const { done } = await fixture.begin();
    const asked = await fixture.on.hosts.next();
    expect(await fixture.account()).toMatchObject({ heldNanousd: accepted.reservedNanousd, reservedNanousd: 0n });
    asked.answer(200, chatAnswer());
    expect(await done).toEqual({ kind: 'ended', state: 'succeeded' });
    const job = await fixture.find(accepted.id);
    expect(job).toMatchObject({ state: 'succeeded', attempts: 1, costNanousd: COST_NANOUSD, errorCode: null });
    expect(await fixture.account()).toMatchObject({
      balanceNanousd: balanceNanousd - COST_NANOUSD,
      heldNanousd: 0n,
      reservedNanousd: 0n,
    });
    const { status, lines, body } = await fixture.jobs.result(ANY_READER, accepted.id);
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toMatchObject({ model: 'ferry', choices: [{ message: { content: 'Hello' } }] });
    expect(lines).toContain(`x-gateway-cost-nanousd: ${COST_NANOUSD}\r\n`);
    expect(await fixture.on.receipt({ id: job.callId! })).toMatchObject({
      state: 'settled',
      costNanousd: COST_NANOUSD,
    });
  });

  test('goes back to its reservation after a failure that may pass, and later ends with its last error', async () => {
    const expiresMs = fixture.on.clock.nowMs() + LIMITS.jobRetryMs + 1;
    const { accepted } = await fixture.submit(ask({ model: 'raft' }), { expiresMs });
    const first = await fixture.begin();
    (await fixture.on.hosts.next()).answer(503, { error: { message: 'Busy.' } });
    expect(await first.done).toEqual({ kind: 'returned', dueMs: expiresMs - 1 });
    expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: accepted.reservedNanousd });
    expect(await fixture.find(accepted.id)).toMatchObject({ state: 'queued', attempts: 1 });
    fixture.on.clock.advance(LIMITS.jobRetryMs);
    const second = await fixture.begin();
    (await fixture.on.hosts.next()).answer(503, { error: { message: 'Busy.' } });
    expect(await second.done).toEqual({ kind: 'ended', state: 'failed' });
    const job = await fixture.find(accepted.id);
    expect(job).toMatchObject({ state: 'failed', attempts: 2, costNanousd: 0n, errorCode: 'overloaded' });
    expect((await fixture.jobs.result(ANY_READER, accepted.id)).status).toBe(503);
    expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: 0n });
  });

  test('is not made again for ever if its host breaks off after it began to answer, because hosts bill that', async () => {
    const { accepted } = await fixture.submit(ask({ model: 'raft' }));
    const ends: string[] = [];
    for (let attempt = 1; attempt <= LIMITS.jobBrokenAttemptsMax; attempt++) {
      const { done } = await fixture.begin();
      (await fixture.on.hosts.next()).answer(200, 'not JSON');
      ends.push((await done).kind);
      fixture.on.clock.advance(LIMITS.jobRetryMaxMs);
    }
    expect(ends).toEqual(['returned', 'returned', 'ended']);
    const job = await fixture.find(accepted.id);
    expect(job).toMatchObject({ state: 'failed', attempts: 3, errorCode: 'host_failed', costNanousd: 0n });
    expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: 0n });
  });

  test('ends with the error of a request that the host refuses', async () => {
    const { accepted } = await fixture.submit(ask({ model: 'raft' }));
    const { done } = await fixture.begin();
    (await fixture.on.hosts.next()).answer(400, { error: { message: 'No.', code: 'nope' } });
    expect(await done).toEqual({ kind: 'ended', state: 'failed' });
    expect(await fixture.find(accepted.id)).toMatchObject({ errorCode: 'nope', httpStatus: 400, costNanousd: 0n });
    const { status, body } = await fixture.jobs.result(ANY_READER, accepted.id);
    expect([status, JSON.parse(body.toString())]).toMatchObject([400, { error: { code: 'nope' } }]);
  });

  test('stops when it is cancelled, and costs what a call costs whose client has left', async () => {
    const { accepted } = await fixture.submit();
    const { done, sink } = await fixture.begin();
    const asked = await fixture.on.hosts.next();
    expect(await fixture.jobs.cancel(ANY_READER, accepted.id)).toMatchObject({ state: 'cancelling' });
    expect(fixture.cancelled).toEqual([accepted.id]);
    sink.leave();
    asked.answer(200, chatAnswer());
    expect(await done).toEqual({ kind: 'ended', state: 'cancelled' });
    expect(await fixture.find(accepted.id)).toMatchObject({ state: 'cancelled', costNanousd: COST_NANOUSD });
    await expect(fixture.jobs.result(ANY_READER, accepted.id)).rejects.toMatchObject({ kind: 'job_has_no_result' });
  });

  test('is cancelled even if its attempt fails and it goes back to the queue at that moment', async () => {
    const { accepted } = await fixture.submit(ask({ model: 'raft' }));
    const { done } = await fixture.begin();
    const asked = await fixture.on.hosts.next();
    const { store } = fixture.services;
    const requestCancel = store.requestCancel.bind(store);
    Object.assign(store, {
      requestCancel: async (...args: Parameters<typeof requestCancel>) => {
        asked.answer(503, { error: { message: 'Busy.' } });
        await done;
        return requestCancel(...args);
      },
    });
    expect(await fixture.jobs.cancel(ANY_READER, accepted.id)).toMatchObject({ state: 'cancelled', attempts: 1 });
    expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: 0n });
  });

  test('is charged by the prices of its acceptance', async () => {
    const { accepted } = await fixture.submit();
    const { catalog, priceId } = fixture.on.gateway.prices();
    const json = catalog.pricesJson.replaceAll('0000000', '00000000');
    const raised = catalog.pricedBy({ version: 'raised', json });
    await fixture.on.store.registerPrices('raised', json);
    Object.assign(fixture.on.gateway, { prices: () => ({ catalog: raised, priceId: priceId + 1 }) });
    const { done } = await fixture.begin();
    (await fixture.on.hosts.next()).answer(200, chatAnswer());
    await done;
    expect((await fixture.find(accepted.id)).costNanousd).toBe(COST_NANOUSD);
  });

  test('charges nothing for a response that cannot be stored', async () => {
    const { accepted } = await fixture.submit();
    Object.assign(fixture.services.store, { putChunks: () => Promise.reject(new Error('away')) });
    const { done } = await fixture.begin();
    (await fixture.on.hosts.next()).answer(200, chatAnswer());
    expect(await done).toEqual({ kind: 'ended', state: 'failed' });
    const job = await fixture.find(accepted.id);
    expect(job).toMatchObject({ costNanousd: 0n, errorCode: 'store_unavailable' });
    expect(await fixture.on.receipt({ id: job.callId! })).toMatchObject({ costNanousd: 0n, lossNanousd: COST_NANOUSD });
  });
});

test('a shutdown waits for a job whose request is still being read, and does not cut its call short', async () => {
  const { contents, gateway } = fixture.services;
  const { accepted } = await fixture.submit();
  const reading = Promise.withResolvers<void>();
  const readRequest = contents.readRequest.bind(contents);
  Object.assign(contents, { readRequest: (job: Job) => reading.promise.then(() => readRequest(job)) });
  const { done } = await fixture.begin();
  await manyTurns();
  const idle = gateway.runningCalls.idle().then(() => gateway.runningCalls.cutOff());
  reading.resolve();
  (await fixture.on.hosts.next()).answer(200, chatAnswer());
  expect(await done).toEqual({ kind: 'ended', state: 'succeeded' });
  await idle;
  expect(await fixture.find(accepted.id)).toMatchObject({ state: 'succeeded', attempts: 1 });
});

describe('a job cut short by a shutdown', () => {
  test('goes back to the queue if it has not started', async () => {
    const { accepted } = await fixture.submit();
    fixture.on.gateway.runningCalls.cutOff();
    const { done } = await fixture.begin();
    expect(await done).toMatchObject({ kind: 'returned' });
    expect(await fixture.find(accepted.id)).toMatchObject({ state: 'queued', attempts: 0 });
  });

  test('goes back to the queue if it has started, but no byte of it has reached a host', async () => {
    const { accepted } = await fixture.submit();
    const { done } = await fixture.begin();
    (await fixture.on.hosts.next()).unreached = true;
    fixture.on.gateway.runningCalls.cutOff();
    expect(await done).toMatchObject({ kind: 'returned' });
    const job = await fixture.find(accepted.id);
    expect(job).toMatchObject({ state: 'queued', attempts: 1, errorCode: 'shutting_down' });
    expect(await fixture.on.receipt({ id: job.callId! })).toMatchObject({ costNanousd: 0n, lossNanousd: 0n });
  });

  test('ends as unknown if a host was asked', async () => {
    const { accepted } = await fixture.submit();
    const { done } = await fixture.begin();
    await fixture.on.hosts.next();
    fixture.on.gateway.runningCalls.cutOff();
    expect(await done).toEqual({ kind: 'ended', state: 'failed' });
    expect(await fixture.find(accepted.id)).toMatchObject({ errorCode: 'job_outcome_unknown', costNanousd: 0n });
  });

  test('goes back to the queue if it may run twice', async () => {
    const { accepted } = await fixture.submit(ask(), { onUnknown: 'retry' });
    const { done } = await fixture.begin();
    await fixture.on.hosts.next();
    fixture.on.gateway.runningCalls.cutOff();
    expect(await done).toMatchObject({ kind: 'returned' });
    expect(await fixture.find(accepted.id)).toMatchObject({ state: 'queued', attempts: 1 });
  });
});

describe('a job that does not run', () => {
  test('is cancelled at once, and its reservation is free', async () => {
    const { accepted } = await fixture.submit();
    expect(await fixture.jobs.cancel(ANY_READER, accepted.id)).toMatchObject({ state: 'cancelled', costNanousd: 0n });
    expect(await fixture.account()).toMatchObject({ reservedNanousd: 0n });
    await expect(fixture.begin()).rejects.toThrow('No job is due.');
  });

  test('waits for its time', async () => {
    await fixture.submit(ask(), { notBeforeMs: fixture.on.clock.nowMs() + MINUTE_MS });
    await expect(fixture.begin()).rejects.toThrow('No job is due.');
    fixture.on.clock.advance(MINUTE_MS);
    expect(await fixture.claim()).toMatchObject({ attempts: 0 });
  });

  test('is cancelled if its key was revoked, and waits while it is disabled', async () => {
    const { store, clock } = fixture.on;
    await store.createKey(aKey(7n, 1n));
    fixture.on.caller = { accountId: 1n, keyId: 7n, key: await store.findKey(7n) };
    const { accepted } = await fixture.submit();
    await store.updateKey(7n, { disabledMs: clock.nowMs() });
    expect(await (await fixture.begin()).done).toMatchObject({ kind: 'returned' });
    clock.advance(LIMITS.jobBlockedMs);
    await store.updateKey(7n, { disabledMs: null, revokedMs: clock.nowMs() });
    expect(await (await fixture.begin()).done).toEqual({ kind: 'ended', state: 'cancelled' });
    expect(await fixture.find(accepted.id)).toMatchObject({ errorCode: 'key_revoked' });
  });
});

test('a job whose key is disabled is looked at less and less often, and its request is not read for it', async () => {
  const { store, clock } = fixture.on;
  await store.createKey(aKey(7n, 1n));
  fixture.on.caller = { accountId: 1n, keyId: 7n, key: await store.findKey(7n) };
  const { accepted } = await fixture.submit();
  await store.updateKey(7n, { disabledMs: clock.nowMs() });
  Object.assign(fixture.services.contents, { readRequest: () => Promise.reject(new Error('read')) });
  const pausesMs: number[] = [];
  for (let claim = 1; claim <= 6; claim++) {
    expect(await (await fixture.begin()).done).toMatchObject({ kind: 'returned' });
    pausesMs.push((await fixture.find(accepted.id)).dueMs - clock.nowMs());
    clock.advance(pausesMs.at(-1)!);
  }
  expect(pausesMs.map((ms) => ms / 1000)).toEqual([30, 60, 120, 240, 480, 600]);
});

describe('who may see a job', () => {
  test('the account, and another key only if it may', async () => {
    const { accepted } = await fixture.submit();
    const stranger = { accountId: 2n, keyId: null, personId: null };
    const otherKey = { accountId: 1n, keyId: 9n, personId: null };
    for (const reader of [stranger, otherKey]) {
      await expect(fixture.jobs.find(reader, accepted.id)).rejects.toMatchObject({ kind: 'job_not_found' });
      await expect(fixture.jobs.cancel(reader, accepted.id)).rejects.toMatchObject({ kind: 'job_not_found' });
    }
    expect((await fixture.find(accepted.id)).id).toBe(accepted.id);
  });

  test('its result is not there from the moment it expires, even before it is deleted', async () => {
    const { accepted } = await fixture.submit();
    const { done } = await fixture.begin();
    (await fixture.on.hosts.next()).answer(200, chatAnswer());
    await done;
    const { resultExpiresMs } = await fixture.find(accepted.id);
    fixture.on.clock.setNowMs(resultExpiresMs! - 1);
    expect(await fixture.jobs.result(ANY_READER, accepted.id)).toMatchObject({ status: 200 });
    fixture.on.clock.setNowMs(resultExpiresMs!);
    await expect(fixture.jobs.result(ANY_READER, accepted.id)).rejects.toMatchObject({ kind: 'result_expired' });
  });

  test('its result is not there before it has ended, nor after it was deleted', async () => {
    const { accepted } = await fixture.submit();
    await expect(fixture.jobs.result(ANY_READER, accepted.id)).rejects.toMatchObject({ kind: 'job_not_finished' });
    await expect(fixture.jobs.remove(ANY_READER, accepted.id)).rejects.toMatchObject({ kind: 'job_not_finished' });
    const { done } = await fixture.begin();
    (await fixture.on.hosts.next()).answer(200, chatAnswer());
    await done;
    await fixture.jobs.remove(ANY_READER, accepted.id);
    await expect(fixture.jobs.result(ANY_READER, accepted.id)).rejects.toMatchObject({
      kind: 'result_expired',
      message: expect.stringMatching(/ was deleted\. Its receipt is kept: GET \/v1\/receipts\/req_[0-9a-z]{13}\.$/),
    });
  });
});

describe('waiting for a job', () => {
  test('ends when the job ends, or the time is up, or the caller leaves', async () => {
    const { accepted } = await fixture.submit();
    const leaving = new AbortController();
    const waits = [
      fixture.jobs.wait(ANY_READER, accepted.id, MINUTE_MS),
      fixture.jobs.wait(ANY_READER, accepted.id, 10),
      fixture.jobs.wait(ANY_READER, accepted.id, MINUTE_MS, leaving.signal),
    ] as const;
    await manyTurns();
    fixture.on.clock.advance(10);
    expect(await waits[1]).toMatchObject({ state: 'queued' });
    leaving.abort();
    expect(await waits[2]).toMatchObject({ state: 'queued' });
    await fixture.jobs.cancel(ANY_READER, accepted.id);
    fixture.waiters.wake(accepted.id);
    expect(await waits[0]).toMatchObject({ state: 'cancelled' });
    expect(fixture.waiters.size).toBe(0);
  });

  test('leaves nothing behind if there is no such job', async () => {
    await expect(fixture.jobs.wait(ANY_READER, 99n, MINUTE_MS)).rejects.toMatchObject({ kind: 'job_not_found' });
    expect(fixture.waiters.size).toBe(0);
  });
});
