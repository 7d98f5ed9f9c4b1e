import { beforeEach, describe, expect, test } from 'vitest';
import { chatAnswer, chatFrame, FINISH_FRAME, USAGE, USAGE_FRAME } from '../../test/fake-hosts.ts';
import { ask, GatewayFixture, PRICE } from '../../test/gateway-fixture.ts';
import { LIMITS } from '../limits.ts';

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;

let fixture: GatewayFixture;

beforeEach(async () => {
  fixture = await GatewayFixture.open();
});

describe('a settlement that fails', () => {
  test('is tried again while the call may still run, and then the client gets its answer', async () => {
    fixture.failWrites('settle');
    const { sink, call, done, asked } = fixture.begin();
    (await asked()).answer(200, chatAnswer());
    await untilTimer(LIMITS.settleRetryMs);
    expect(sink.headSent).toBe(false);
    fixture.clock.advance(LIMITS.settleRetryMs);
    await done;
    expect(sink.sent?.status).toBe(200);
    expect(await fixture.receipt(call)).toMatchObject({ state: 'settled', costNanousd: COST_NANOUSD });
  });

  test('for good withholds the answer, names no cost, and gives the hold back', async () => {
    fixture.failWrites('settle', 1_000_000);
    const { sink, call, done, asked } = fixture.begin();
    (await asked()).answer(200, chatAnswer());
    await untilTimer(LIMITS.settleRetryMs);
    fixture.ledger.stopRetrying();
    await done;
    expect(sink.sent?.status).toBe(503);
    expect(sink.text).not.toContain('Hello');
    expect(sink.sent?.headers).not.toHaveProperty('x-gateway-cost-nanousd');
    expect(sink.sent?.headers['x-should-retry']).toBe('false');
    await turnsUntil(() => fixture.ledger.openHolds === 0);
    expect(await fixture.receipt(call)).toMatchObject({ state: 'voided', costNanousd: 0n });
    expect(await fixture.heldNanousd()).toBe(0n);
  });

  test('after content ends the stream with an error instead of its terminator', async () => {
    fixture.failWrites('settle', 1_000_000);
    const { sink, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    request.stream(chatFrame('Hello'));
    request.frames(FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await untilTimer(LIMITS.settleRetryMs);
    fixture.ledger.stopRetrying();
    await done;
    expect(sink.text).toContain('Hello');
    expect(sink.text).not.toContain('[DONE]');
    expect(JSON.parse(sink.frames.at(-1)!)).toMatchObject({ error: { code: 'store_unavailable' } });
  });

  test('does not keep the text of a short stream from its client for long', async () => {
    fixture.failWrites('settle');
    const { sink, call, done, asked } = fixture.begin(ask({ stream: true }));
    (await asked()).stream(chatFrame('Hello'), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await untilTimer(LIMITS.settleRetryMs);
    expect(sink.headSent).toBe(false);
    fixture.clock.advance(LIMITS.wholeStreamKeptMs);
    expect(sink.text).toContain('Hello');
    expect(sink.text).not.toContain('[DONE]');
    fixture.clock.advance(LIMITS.settleRetryMs);
    await done;
    expect(sink.text.split('Hello')).toHaveLength(2);
    expect(sink.frames.at(-1)).toBe('[DONE]');
    expect(await fixture.receipt(call)).toMatchObject({ state: 'settled', costNanousd: COST_NANOUSD });
  });

  test('is an HTTP error for a short stream if it may not be tried again', async () => {
    fixture.failWrites('settle', 1_000_000);
    fixture.ledger.stopRetrying();
    const { sink, done, asked } = fixture.begin(ask({ stream: true }));
    (await asked()).stream(chatFrame('Hello'), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await done;
    expect(sink.sent?.status).toBe(503);
    fixture.clock.advance(LIMITS.wholeStreamKeptMs);
    expect(sink.text).not.toContain('Hello');
  });
});

/** Lets the ledger run until a timer is set for that time. */
function untilTimer(ms: number): Promise<void> {
  return turnsUntil(() => fixture.clock.fallsDueIn(ms));
}

async function turnsUntil(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !condition(); turn++) await new Promise(setImmediate);
  expect(condition()).toBe(true);
}
