import { describe, expect, test, vi } from 'vitest';
import { chatFrame, FINISH_FRAME, type SentRequest, USAGE, USAGE_FRAME } from '../../test/fake-hosts.ts';
import { ask, GatewayFixture, type GatewayOptions, LIMITS_OF_CALLS, PRICE } from '../../test/gateway-fixture.ts';
import { manyTurns, until } from '../../test/until.ts';
import { LIMITS } from '../limits.ts';

/** Clients that leave a stream before its first content, and the allowance for what that costs the operator. */

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;
const STREAM = ask({ stream: true });
const WHOLE = [chatFrame('Hello'), FINISH_FRAME, USAGE_FRAME, '[DONE]'] as const;

/** What one such call holds. */
const HOLD = await (async () => {
  const fixture = await GatewayFixture.open();
  const { sink, done, asked } = fixture.begin(STREAM);
  await asked();
  const held = await fixture.heldNanousd();
  sink.leave();
  await done;
  return held;
})();

const open = (hangupAllowanceNanousd: bigint, more: GatewayOptions = {}) =>
  GatewayFixture.open({ hangupAllowanceNanousd, ...more });

/** A call whose client has left, while its host still works. */
async function left(fixture: GatewayFixture) {
  const begun = fixture.begin(STREAM);
  const request = await begun.asked();
  begun.sink.leave();
  await manyTurns();
  return { ...begun, request };
}

const lost = async ({ store }: GatewayFixture) => (await store.findAccount(1n))!.lostNanousd;

describe('within the allowance', () => {
  test('the host is cancelled, nothing is charged, and the hold is drawn on the allowance', async () => {
    const fixture = await open(HOLD);
    const { call, done, request } = await left(fixture);
    await done;
    expect(request.cancelled).toBe(true);
    expect(await fixture.receipt(call)).toMatchObject({
      state: 'settled',
      ended: 'client_gone',
      httpStatus: 499,
      costNanousd: 0n,
      lossNanousd: HOLD,
      lossReason: 'host_may_bill_uncharged_work',
      hangupCharged: null,
    });
    expect(await lost(fixture)).toBe(HOLD);
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'settle']);
    expect(fixture.records[0]).toMatchObject({ ended: 'client_gone', costNanousd: 0n });
  });

  test('a defect after the settlement does not end the hold again', async () => {
    const fixture = await open(HOLD);
    const { sink, call, done, asked } = fixture.begin(STREAM);
    await asked();
    const { health } = fixture.gateway.hosts().candidates(fixture.gateway.prices().catalog.find('ferry')!)[0]!;
    vi.spyOn(health!, 'note').mockImplementation(() => {
      throw new Error('a defect');
    });
    sink.leave();
    await done;
    expect(fixture.records[0]).toMatchObject({ fault: 'Error: a defect' });
    expect(await fixture.receipt(call)).toMatchObject({ state: 'settled', ended: 'client_gone', costNanousd: 0n });
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'settle']);
    expect(fixture.ledger.openHolds).toBe(0);
  });

  test('a host that finishes while the ledger decides is free too', async () => {
    const fixture = await open(HOLD);
    const { sink, call, done, asked } = fixture.begin(STREAM);
    const request = await asked();
    sink.leave();
    request.stream(...WHOLE);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ costNanousd: 0n, usageSource: 'none' });
  });

  test('a client that reads nothing counts as one that left', async () => {
    const fixture = await open(HOLD);
    const { sink, call, done, asked } = fixture.begin(STREAM);
    const request = await asked();
    sink.isFull = true;
    request.stream(chatFrame(''));
    // Without content, the first bytes to the client are a keep-alive.
    fixture.clock.advance(LIMITS_OF_CALLS.keepAliveMs);
    fixture.clock.advance(LIMITS_OF_CALLS.stallMs);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ ended: 'stalled', costNanousd: 0n });
    expect(await lost(fixture)).toBe(HOLD);
  });

  test('an unlimited account is always within it', async () => {
    const fixture = await open(0n, { accountKind: 'unlimited' });
    const { call, done, request } = await left(fixture);
    await done;
    expect(request.cancelled).toBe(true);
    expect(await fixture.receipt(call)).toMatchObject({ costNanousd: 0n, lossNanousd: HOLD });
    expect(fixture.trace.filter((note) => note === 'settle')).toHaveLength(1);
  });
});

describe('beyond the allowance', () => {
  const beyond = async (more: GatewayOptions = {}) => {
    const fixture = await open(HOLD - 1n, more);
    return { fixture, ...(await left(fixture)) };
  };

  test('the host is read to its end with hold and slot kept, and its usage is charged', async () => {
    const { fixture, call, done, request } = await beyond();
    const slotFreed = vi.spyOn(fixture.gateway.slots, 'free');
    fixture.clock.advance(LIMITS_OF_CALLS.drainMs);
    request.stream(chatFrame('Hel'));
    await manyTurns();
    expect([request.cancelled, await fixture.heldNanousd()]).toEqual([false, HOLD]);
    expect(slotFreed).not.toHaveBeenCalled();
    request.frames(chatFrame('lo'), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await done;
    expect(await fixture.receipt(call)).toMatchObject({
      ended: 'client_gone',
      usageSource: 'drained',
      costNanousd: COST_NANOUSD,
      lossReason: null,
      hangupCharged: true,
    });
    expect([await lost(fixture), await fixture.heldNanousd()]).toEqual([0n, 0n]);
    expect(slotFreed).toHaveBeenCalledOnce();
  });

  test('what the host sent is estimated if it does not count', async () => {
    const { fixture, call, done, request } = await beyond();
    request.stream(chatFrame('x'.repeat(40)), FINISH_FRAME, '[DONE]');
    await done;
    expect(await fixture.receipt(call)).toMatchObject({
      usageSource: 'estimated',
      usage: { outputTokens: 10 },
      hangupCharged: true,
      lossReason: 'host_may_bill_more_than_estimate',
    });
  });

  test.each<[string, (request: SentRequest, fixture: GatewayFixture) => void]>([
    ['breaks the connection', (request) => request.fail('ECONNRESET')],
    ['answers with an error', (request) => request.answer(500, { error: { message: 'no' } })],
    [
      'breaks off its answer',
      (request) => {
        request.stream(chatFrame('Hel'));
        request.end();
      },
    ],
    ['falls silent', (_request, { clock }) => clock.advance(LIMITS_OF_CALLS.firstFrameMs)],
  ])('a host that %s costs nothing, and no other host is tried', async (_what, fails) => {
    const { fixture, call, done, request } = await beyond();
    fails(request, fixture);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({
      ended: 'client_gone',
      costNanousd: 0n,
      lossNanousd: HOLD,
      hangupCharged: null,
      attempts: 1,
    });
    expect(fixture.hosts.requests).toHaveLength(1);
    expect(await lost(fixture)).toBe(0n);
  });

  test('a stream that reaches the longest time is cut, and what it sent is charged', async () => {
    const { fixture, call, done, request } = await beyond();
    request.stream(chatFrame('x'.repeat(40)));
    for (let ms = 0; ms < LIMITS_OF_CALLS.streamMs; ms += LIMITS_OF_CALLS.idleMs - 1) {
      fixture.clock.advance(LIMITS_OF_CALLS.idleMs - 1);
      request.data(': still there\n\n');
    }
    await done;
    expect(request.cancelled).toBe(true);
    expect(await fixture.receipt(call)).toMatchObject({ usageSource: 'estimated', hangupCharged: true });
  });

  test('a host that finishes while the ledger decides is charged', async () => {
    const fixture = await open(0n);
    const { sink, call, done, asked } = fixture.begin(STREAM);
    const request = await asked();
    sink.leave();
    request.stream(...WHOLE);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ costNanousd: COST_NANOUSD, hangupCharged: true });
  });

  test('a host whose row says that it can be cancelled is read to its end too', async () => {
    const { fixture, call, done, request } = await beyond({ row: { onClientGone: 'cancel' } });
    request.stream(...WHOLE);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ costNanousd: COST_NANOUSD });
  });

  test('a shutdown ends the call, which costs nothing', async () => {
    const { fixture, call, done } = await beyond();
    fixture.gateway.runningCalls.cutOff();
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ costNanousd: 0n, hangupCharged: null });
  });
});

test('64 clients that leave at the same time cannot exceed the allowance together', async () => {
  const fixture = await open(5n * HOLD, { creditNanousd: 100n * HOLD });
  const calls = Array.from({ length: 64 }, () => fixture.begin(STREAM));
  const requests: SentRequest[] = [];
  for (const { asked } of calls) requests.push(await asked());
  for (const { sink } of calls) sink.leave();
  await until(() => requests.filter(({ cancelled }) => cancelled).length === 5, 'five hosts are cancelled');
  for (const request of requests) if (!request.cancelled) request.stream(...WHOLE);
  await Promise.all(calls.map(({ done }) => done));
  const receipts = await Promise.all(calls.map(({ call }) => fixture.receipt(call)));
  expect(receipts.filter(({ costNanousd }) => costNanousd === 0n)).toHaveLength(5);
  expect(receipts.filter(({ hangupCharged }) => hangupCharged === true)).toHaveLength(59);
  expect(await lost(fixture)).toBe(5n * HOLD);
});

describe('a store that is unreachable when the client leaves', () => {
  test('is asked again, and then the call is free', async () => {
    const fixture = await open(HOLD);
    fixture.failWrites('settle');
    const { call, done, request } = await left(fixture);
    await until(() => fixture.clock.fallsDueIn(LIMITS.settleRetryMs), 'the settlement is tried again');
    expect(request.cancelled).toBe(false);
    fixture.clock.advance(LIMITS.settleRetryMs);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ state: 'settled', costNanousd: 0n });
  });

  test('for good gives the hold back', async () => {
    const fixture = await open(HOLD);
    fixture.failWrites('settle', 1_000_000);
    const { call, done, request } = await left(fixture);
    await until(() => fixture.clock.fallsDueIn(LIMITS.settleRetryMs), 'the settlement is tried again');
    fixture.ledger.stopRetrying();
    await done;
    expect(request.cancelled).toBe(true);
    await until(() => fixture.ledger.openHolds === 0, 'the hold is voided');
    expect(await fixture.receipt(call)).toMatchObject({ state: 'voided', costNanousd: 0n });
  });
});

describe('the header x-gateway-hangups', () => {
  const headerOf = async (fixture: GatewayFixture) => {
    const { sink, done, asked } = fixture.begin(STREAM);
    (await asked()).stream(...WHOLE);
    await done;
    return sink.sent?.headers['x-gateway-hangups'];
  };

  test('says that the allowance is used up, until the next hour', async () => {
    const fixture = await open(2n * HOLD - 1n);
    expect(await headerOf(fixture)).toBeUndefined();
    await (await left(fixture)).done;
    expect(await headerOf(fixture)).toBe('charged');
    fixture.clock.advance(LIMITS.lossWindowMs);
    expect(await headerOf(fixture)).toBeUndefined();
  });

  test('is absent while the allowance covers another such call', async () => {
    const fixture = await open(2n * HOLD);
    await (await left(fixture)).done;
    expect(await headerOf(fixture)).toBeUndefined();
  });
});
