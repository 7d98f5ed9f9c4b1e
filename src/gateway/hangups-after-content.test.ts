import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { chatAnswer, chatFrame, FINISH_FRAME, type SentRequest, USAGE, USAGE_FRAME } from '../../test/fake-hosts.ts';
import { ask, GatewayFixture, type GatewayOptions, LIMITS_OF_CALLS, PRICE } from '../../test/gateway-fixture.ts';
import { manyTurns } from '../../test/until.ts';

/** Clients that leave in the middle of a response, and the allowance for what that costs the operator. */

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;
const STREAM = ask({ stream: true });
const END = [FINISH_FRAME, USAGE_FRAME, '[DONE]'] as const;
/** 12 bytes of text are charged as three tokens, and "Hi" as one. */
const ESTIMATE_NANOUSD = PRICE.input + 3n * PRICE.output;

const open = (hangupAllowanceNanousd: bigint, more: GatewayOptions = {}) =>
  GatewayFixture.open({ hangupAllowanceNanousd, ...more });

/** A call whose client has left after 12 bytes of content, or while it waits for a buffered response. */
async function left(fixture: GatewayFixture, body = STREAM) {
  const begun = fixture.begin(body);
  const request = await begun.asked();
  const heldNanousd = await fixture.heldNanousd();
  if (body.stream === true) request.stream(chatFrame('x'.repeat(12)));
  begun.sink.leave();
  await manyTurns();
  return { ...begun, request, heldNanousd };
}

/** The time for which a host is read anyway has passed; it has not been silent. */
async function drainTimePasses({ clock }: GatewayFixture, request: SentRequest, isStream = true): Promise<void> {
  clock.advance(LIMITS_OF_CALLS.drainMs - 1);
  if (isStream) request.data(': still there\n\n');
  clock.advance(1);
  await manyTurns();
}

const lost = async ({ store }: GatewayFixture) => (await store.findAccount(1n))!.lostNanousd;

describe('within the allowance', () => {
  test('the host is cancelled after its time, and the hold less the charge is drawn on the allowance', async () => {
    const fixture = await open(1_000_000n);
    const { call, done, request, heldNanousd } = await left(fixture);
    await drainTimePasses(fixture, request);
    await done;
    expect(request.cancelled).toBe(true);
    const lossNanousd = heldNanousd - ESTIMATE_NANOUSD;
    expect(await fixture.receipt(call)).toMatchObject({
      ended: 'client_gone',
      usageSource: 'estimated',
      costNanousd: ESTIMATE_NANOUSD,
      lossNanousd,
      lossReason: 'host_may_bill_more_than_estimate',
      hangupCharged: null,
    });
    expect(await lost(fixture)).toBe(lossNanousd);
    expect(fixture.trace.filter((note) => note === 'settle')).toHaveLength(1);
  });

  test('a host that finishes in time draws nothing on it', async () => {
    const fixture = await open(0n);
    const { call, done, request } = await left(fixture);
    request.frames(...END);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ usageSource: 'drained', costNanousd: COST_NANOUSD });
    expect(await lost(fixture)).toBe(0n);
  });

  test('a host whose row says that it can be cancelled is cancelled at once', async () => {
    const fixture = await open(1_000_000n, { row: { onClientGone: 'cancel' } });
    const { done, request, heldNanousd } = await left(fixture);
    await done;
    expect(request.cancelled).toBe(true);
    expect(await lost(fixture)).toBe(heldNanousd - ESTIMATE_NANOUSD);
  });

  test('an unlimited account is always within it', async () => {
    const fixture = await open(0n, { accountKind: 'unlimited' });
    const { done, request } = await left(fixture);
    await drainTimePasses(fixture, request);
    await done;
    expect([request.cancelled, await lost(fixture)]).toEqual([true, 0n]);
  });

  test('what failed hosts before may bill is not drawn on it', async () => {
    const fixture = await open(1_000_000n);
    const begun = fixture.begin(STREAM);
    (await begun.asked()).fail('ECONNRESET');
    const request = await begun.asked();
    const heldNanousd = await fixture.heldNanousd();
    request.stream(chatFrame('x'.repeat(12)));
    begun.sink.leave();
    await drainTimePasses(fixture, request);
    await begun.done;
    expect((await fixture.receipt(begun.call)).lossNanousd).toBe(2n * heldNanousd - ESTIMATE_NANOUSD);
    expect(await lost(fixture)).toBe(heldNanousd - ESTIMATE_NANOUSD);
  });
});

describe('beyond the allowance', () => {
  const beyond = async (more: GatewayOptions = {}) => {
    const fixture = await open(0n, more);
    const begun = await left(fixture);
    await drainTimePasses(fixture, begun.request);
    return { fixture, ...begun };
  };

  test('the host is read to its end with hold and slot kept, and its usage is charged', async () => {
    const { fixture, call, done, request, heldNanousd } = await beyond();
    const slotFreed = vi.spyOn(fixture.gateway.slots, 'free');
    await drainTimePasses(fixture, request);
    expect([request.cancelled, await fixture.heldNanousd()]).toEqual([false, heldNanousd]);
    expect(slotFreed).not.toHaveBeenCalled();
    request.frames(...END);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({
      ended: 'client_gone',
      usageSource: 'drained',
      costNanousd: COST_NANOUSD,
      lossReason: null,
      hangupCharged: null,
    });
    expect([await lost(fixture), await fixture.heldNanousd()]).toEqual([0n, 0n]);
  });

  test('all that the host sent is estimated if it does not count', async () => {
    const { fixture, call, done, request } = await beyond();
    request.frames(chatFrame('x'.repeat(28)), FINISH_FRAME, '[DONE]');
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ usageSource: 'estimated', usage: { outputTokens: 10 } });
  });

  test('what has arrived is charged if the host fails', async () => {
    const { fixture, call, done, request } = await beyond();
    request.fail('ECONNRESET');
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ usageSource: 'estimated', costNanousd: ESTIMATE_NANOUSD });
    expect(fixture.hosts.requests).toHaveLength(1);
  });

  test('a host whose row says that it can be cancelled is read to its end too', async () => {
    const { fixture, call, done, request } = await beyond({ row: { onClientGone: 'cancel' } });
    expect(request.cancelled).toBe(false);
    request.frames(...END);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ costNanousd: COST_NANOUSD });
  });
});

describe('a buffered call', () => {
  test('whose host is cancelled after its time draws on the allowance', async () => {
    const fixture = await open(1_000_000n);
    const { call, done, request, heldNanousd } = await left(fixture, ask());
    await drainTimePasses(fixture, request, false);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ usageSource: 'estimated', costNanousd: PRICE.input });
    expect([request.cancelled, await lost(fixture)]).toEqual([true, heldNanousd - PRICE.input]);
  });

  test('is read to its end and charged when the allowance is used up', async () => {
    const fixture = await open(0n);
    const { call, done, request } = await left(fixture, ask());
    await drainTimePasses(fixture, request, false);
    expect(request.cancelled).toBe(false);
    request.answer(200, chatAnswer());
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ usageSource: 'drained', costNanousd: COST_NANOUSD });
  });

  test('is charged by estimate if the host has not answered at the longest time', async () => {
    const fixture = await open(0n);
    const { call, done, request } = await left(fixture, ask());
    await drainTimePasses(fixture, request, false);
    fixture.clock.advance(LIMITS_OF_CALLS.bufferedMs);
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ ended: 'client_gone', costNanousd: PRICE.input });
    expect(request.cancelled).toBe(true);
  });

  test('whose host answers while the ledger decides is charged for the answer', async () => {
    const fixture = await open(0n);
    const { call, done, request } = await left(fixture, ask());
    fixture.clock.advance(LIMITS_OF_CALLS.drainMs);
    request.answer(200, chatAnswer());
    await done;
    expect(await fixture.receipt(call)).toMatchObject({ usageSource: 'drained', costNanousd: COST_NANOUSD });
  });
});

test('however callers hang up, what hosts may bill beyond the charges stays within the allowance', async () => {
  const departure = fc.record({
    stream: fc.boolean(),
    contentBytes: fc.constantFrom(0, 1, 40),
    maxTokens: fc.integer({ min: 1, max: 100 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(departure, { minLength: 1, maxLength: 8 }),
      fc.bigInt(0n, 8_000n),
      async (calls, allowanceNanousd) => {
        const fixture = await open(allowanceNanousd);
        let lossNanousd = 0n;
        for (const { stream, contentBytes, maxTokens } of calls) {
          const { sink, call, done, asked } = fixture.begin(ask({ stream, max_tokens: maxTokens }));
          const request = await asked();
          if (stream) request.stream(chatFrame('x'.repeat(contentBytes)));
          sink.leave();
          await drainTimePasses(fixture, request, stream);
          if (!request.cancelled && stream) request.frames(...END);
          else if (!request.cancelled) request.answer(200, chatAnswer());
          await done;
          lossNanousd += (await fixture.receipt(call)).lossNanousd;
        }
        expect(lossNanousd).toBeLessThanOrEqual(allowanceNanousd);
        expect(await lost(fixture)).toBe(lossNanousd);
      },
    ),
    { numRuns: 40 },
  );
});
