import { beforeEach, describe, expect, test } from 'vitest';
import { chatAnswer, chatFrame, FINISH_FRAME, USAGE, USAGE_FRAME } from '../../test/fake-hosts.ts';
import { ask, GatewayFixture, PRICE } from '../../test/gateway-fixture.ts';
import { LIMITS } from '../limits.ts';
import { WIRES } from '../wires/registry.ts';
import { exchange } from './exchange.ts';

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;

let fixture: GatewayFixture;

beforeEach(async () => {
  fixture = await GatewayFixture.open();
});

describe('a buffered call', () => {
  test('holds, sends, settles, and only then answers the client', async () => {
    const { sink, call, done, asked } = fixture.begin();
    (await asked()).answer(200, chatAnswer());
    await done;
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'settle', 'head', 'end']);
    expect(sink.sent).toMatchObject({
      status: 200,
      headers: {
        'x-gateway-request-id': call.requestId,
        'x-gateway-effective-model': 'ferry',
        'x-gateway-cost-nanousd': String(COST_NANOUSD),
      },
      length: sink.text.length,
    });
    expect(sink.json).toMatchObject({ model: 'ferry', choices: [{ message: { content: 'Hello' } }] });
  });

  test('is charged what the host counted, at the price for callers', async () => {
    const before = await fixture.balanceNanousd();
    const { call, done, asked } = fixture.begin();
    (await asked()).answer(200, chatAnswer());
    await done;
    expect(await fixture.receipt(call)).toMatchObject({
      state: 'settled',
      ended: 'complete',
      host: 'alpha',
      attempts: 1,
      usageSource: 'reported',
      costNanousd: COST_NANOUSD,
    });
    expect(before - (await fixture.balanceNanousd())).toBe(COST_NANOUSD);
    expect(await fixture.heldNanousd()).toBe(0n);
  });

  test('sends the host its own name for the model and our key, not the caller’s', async () => {
    const { done, asked } = fixture.begin(ask(), { authorization: 'Bearer tg_live_of_the_caller' });
    const request = await asked();
    expect(request).toMatchObject({ path: '/v1/chat/completions', body: { model: 'ferry-at-alpha' } });
    expect(request.headers.authorization).toBe('Bearer host-key-0123456789');
    request.answer(200, chatAnswer());
    await done;
  });

  test('is observed once, after its last byte, with the times of each step', async () => {
    const { done, asked } = fixture.begin();
    const request = await asked();
    fixture.clock.advance(40);
    expect(fixture.records).toEqual([]);
    request.answer(200, chatAnswer());
    await done;
    expect(fixture.records).toHaveLength(1);
    expect(fixture.records[0]).toMatchObject({
      requestedModel: 'ferry',
      effectiveModel: 'ferry',
      host: 'alpha',
      status: 200,
      ended: 'complete',
      errorCode: null,
      costNanousd: COST_NANOUSD,
      heldAfterMs: 0,
      answeredAfterMs: 40,
      settledAfterMs: 40,
      totalMs: 40,
    });
  });
});

describe('a streamed call', () => {
  test('passes frames on as they come, and keeps the end back until the settlement is durable', async () => {
    const { sink, call, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    request.stream(chatFrame('Hel'));
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'head', 'write']);
    request.frames(chatFrame('lo'), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    expect(sink.text).not.toContain('[DONE]');
    await done;
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'head', 'write', 'write', 'settle', 'end']);
    expect(sink.frames.at(-1)).toBe('[DONE]');
    expect(await fixture.receipt(call)).toMatchObject({ ended: 'complete', costNanousd: COST_NANOUSD });
  });

  test('leaves in one write after its settlement if all of it came in one read', async () => {
    const { sink, call, done, asked } = fixture.begin(ask({ stream: true }));
    (await asked()).stream(chatFrame('Hel'), chatFrame('lo — ✓'), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await done;
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'settle', 'head', 'end']);
    expect(sink.text).toContain('Hel');
    expect(sink.text).toContain('lo — ✓');
    expect(sink.frames.at(-1)).toBe('[DONE]');
    expect(await fixture.receipt(call)).toMatchObject({ ended: 'complete', costNanousd: COST_NANOUSD });
  });

  test('is not kept back if it is long, although all of it came in one read', async () => {
    const { done, asked } = fixture.begin(ask({ stream: true }));
    const long = 'word '.repeat(LIMITS.responseJoinedBytesMax / 5);
    (await asked()).stream(chatFrame(long), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await done;
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'head', 'write', 'settle', 'end']);
  });

  test('has the time of its first content from the hold, as its duration, however long it took to be admitted', async () => {
    const startedMs = fixture.clock.monotonicMs();
    fixture.clock.advance(40);
    const call = fixture.call(ask({ stream: true }), {}, { startedMs });
    const done = exchange(fixture.gateway, call, fixture.sink());
    const request = await fixture.hosts.next();
    fixture.clock.advance(6);
    request.stream(chatFrame('Hello'), FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await done;
    const { firstByteMs, createdMs, endedMs } = await fixture.receipt(call);
    expect([firstByteMs, endedMs! - createdMs]).toEqual([6, 6]);
  });

  test('ends with an error frame, and is charged, if the host breaks off after content', async () => {
    const { sink, call, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    request.stream(chatFrame('Hello'));
    request.fail('ECONNRESET');
    await done;
    expect(sink.ended).toBe(true);
    expect(sink.text).not.toContain('[DONE]');
    expect(JSON.parse(sink.frames.at(-1)!)).toMatchObject({ error: { code: 'host_failed' } });
    const receipt = await fixture.receipt(call);
    expect(receipt).toMatchObject({ state: 'settled', ended: 'upstream_error', usageSource: 'estimated' });
    expect(receipt.costNanousd).toBeGreaterThan(0n);
  });

  test('is not charged if the host breaks off after a tool call that the caller’s wire has no place for', async () => {
    const call = fixture.call({ model: 'raft', prompt: 'Hi', stream: true }, {}, { wire: WIRES.completions });
    const sink = fixture.sink();
    const done = exchange(fixture.gateway, call, sink);
    const request = await fixture.hosts.next();
    const called = { index: 0, id: 'c', type: 'function', function: { name: 'tide', arguments: '{"at":' } };
    request.stream({
      choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [called] }, finish_reason: null }],
    });
    request.fail('ECONNRESET');
    await done;
    expect(sink.sent).toMatchObject({ status: 502, headers: { 'x-gateway-cost-nanousd': '0' } });
    expect(await fixture.receipt(call)).toMatchObject({ ended: 'failed', usageSource: 'none', costNanousd: 0n });
  });
});

describe('the hold', () => {
  test('is given back in full if the host fails before any content', async () => {
    const before = await fixture.balanceNanousd();
    const { sink, call, done, asked } = fixture.begin(ask({ model: 'raft' }));
    (await asked()).fail('ECONNREFUSED');
    await done;
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'settle', 'head', 'end']);
    expect(sink.sent?.status).toBe(502);
    expect(sink.sent?.headers['x-gateway-cost-nanousd']).toBe('0');
    expect(await fixture.receipt(call)).toMatchObject({ state: 'settled', ended: 'failed', costNanousd: 0n });
    expect([await fixture.heldNanousd(), await fixture.balanceNanousd()]).toEqual([0n, before]);
  });

  test('is given back if something throws while the call is served', async () => {
    fixture.hosts.send = () => {
      throw new Error('a defect');
    };
    const { sink, call, done } = fixture.begin();
    await done;
    expect(sink.sent?.status).toBe(500);
    expect(sink.text).not.toContain('a defect');
    expect(fixture.records[0]).toMatchObject({ status: 500, fault: 'Error: a defect' });
    expect(await fixture.receipt(call)).toMatchObject({ state: 'settled', httpStatus: 500, costNanousd: 0n });
    expect([await fixture.heldNanousd(), fixture.ledger.openHolds]).toEqual([0n, 0]);
  });

  test('is given back if the answer cannot be stored, and what the host may bill is booked as a loss', async () => {
    Object.assign(fixture.gateway.sealer, {
      seal: () => {
        throw new Error('a defect');
      },
    });
    const { sink, call, done, asked } = fixture.begin(ask(), { 'idempotency-key': 'one' });
    (await asked()).answer(200, chatAnswer());
    await done;
    const lost = { host: 'alpha', lossNanousd: COST_NANOUSD, lossReason: 'host_may_bill_uncharged_work' };
    expect(sink.sent?.status).toBe(500);
    expect(await fixture.receipt(call)).toMatchObject({ state: 'settled', httpStatus: 500, costNanousd: 0n, ...lost });
    expect(fixture.records[0]).toMatchObject({ status: 500, costNanousd: 0n, ...lost });
  });

  test('that does not fit the balance is refused before any host hears of the call', async () => {
    fixture = await GatewayFixture.open({ creditNanousd: 1000n });
    const { sink, done } = fixture.begin();
    await done;
    expect(fixture.trace).toEqual(['hold_refused', 'head', 'end']);
    expect(sink.sent).toMatchObject({ status: 402, headers: { 'x-gateway-cost-nanousd': '0' } });
    expect(sink.json).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect(fixture.hosts.requests).toEqual([]);
  });

  test('names the largest output limit that would fit, and that limit then fits', async () => {
    fixture = await GatewayFixture.open({ creditNanousd: 4000n });
    const { sink, done } = fixture.begin();
    await done;
    const largest = Number(/largest max_tokens that would fit is (\d+)/.exec(sink.text)?.[1]);
    const tooMuch = fixture.begin(ask({ max_tokens: largest + 1 }));
    await tooMuch.done;
    expect(tooMuch.sink.sent?.status).toBe(402);
    const again = fixture.begin(ask({ max_tokens: largest }));
    (await again.asked()).answer(200, chatAnswer());
    await again.done;
    expect(again.sink.sent?.status).toBe(200);
  });

  test('is tried again with an exact count where the bound made of bytes did not fit', async () => {
    const content = 'word '.repeat(150);
    const body = ask({ messages: [{ role: 'user', content }], max_tokens: 10 });
    fixture = await GatewayFixture.open({ creditNanousd: 5000n, counted: 150 });
    const { sink, done, asked } = fixture.begin(body);
    (await asked()).answer(200, chatAnswer());
    await done;
    expect(fixture.trace.slice(0, 3)).toEqual(['hold_refused', 'hold', 'send alpha']);
    expect(sink.sent?.status).toBe(200);
  });

  test('that cannot be written refuses the call with 503 and asks no host', async () => {
    fixture.failWrites('hold');
    const { sink, done } = fixture.begin();
    await done;
    expect(sink.sent).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'x-gateway-cost-nanousd': '0' } });
    expect(sink.json).toMatchObject({ error: { code: 'store_unavailable' } });
    expect(fixture.hosts.requests).toEqual([]);
  });

  test('above the ceiling of the request is refused by the name of the header', async () => {
    const { sink, done } = fixture.begin(ask(), { 'x-gateway-max-cost-nanousd': '5' });
    await done;
    expect(sink.json).toMatchObject({ error: { code: 'cost_ceiling_exceeded', param: 'x-gateway-max-cost-nanousd' } });
    expect(fixture.hosts.requests).toEqual([]);
  });
});

describe('a client that leaves', () => {
  test('before the host was asked costs nothing, and no host is asked', async () => {
    const { sink, call, done } = fixture.begin();
    sink.leave();
    await done;
    expect(fixture.trace).toEqual(['hold', 'settle']);
    expect(await fixture.receipt(call)).toMatchObject({ ended: 'client_gone', costNanousd: 0n, attempts: 0 });
    expect(fixture.records[0]).toMatchObject({ status: 499, ended: 'client_gone' });
  });

  test('before any content of a stream stops the host and costs nothing', async () => {
    const { sink, call, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    sink.leave();
    await done;
    expect(request.cancelled).toBe(true);
    expect(await fixture.receipt(call)).toMatchObject({ ended: 'client_gone', costNanousd: 0n });
  });

  test('after content pays what the host counts at its end', async () => {
    const { sink, call, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    request.stream(chatFrame('Hello'));
    sink.leave();
    request.frames(FINISH_FRAME, USAGE_FRAME, '[DONE]');
    await done;
    expect(await fixture.receipt(call)).toMatchObject({
      ended: 'client_gone',
      usageSource: 'drained',
      costNanousd: COST_NANOUSD,
    });
    expect(fixture.trace.at(-1)).toBe('settle');
  });
});

describe('an idempotency key', () => {
  const KEY = { 'idempotency-key': 'order-7' };

  test('gives the first answer again, charged once, without asking a host', async () => {
    const first = fixture.begin(ask(), KEY);
    (await first.asked()).answer(200, chatAnswer());
    await first.done;
    const balance = await fixture.balanceNanousd();
    const second = fixture.begin(ask(), KEY);
    await second.done;
    expect(second.sink.text).toBe(first.sink.text);
    expect(second.sink.sent?.headers).toMatchObject({
      'idempotency-replayed': 'true',
      'x-gateway-request-id': first.call.requestId,
    });
    expect(fixture.hosts.requests).toHaveLength(1);
    expect(await fixture.balanceNanousd()).toBe(balance);
    expect(fixture.records[1]).toMatchObject({ ended: 'replayed', status: 200, costNanousd: 0n });
  });

  test('is refused with 409 while the first call runs', async () => {
    const first = fixture.begin(ask(), KEY);
    const request = await first.asked();
    const second = fixture.begin(ask(), KEY);
    await second.done;
    expect(second.sink.json).toMatchObject({ error: { code: 'idempotency_in_progress' } });
    request.answer(200, chatAnswer());
    await first.done;
  });

  test('is refused for another body', async () => {
    const first = fixture.begin(ask(), KEY);
    (await first.asked()).answer(200, chatAnswer());
    await first.done;
    const second = fixture.begin(ask({ max_tokens: 99 }), KEY);
    await second.done;
    expect(second.sink.json).toMatchObject({ error: { code: 'idempotency_mismatch' } });
  });

  test('is free again after a call that cost nothing', async () => {
    const first = fixture.begin(ask({ model: 'raft' }), KEY);
    (await first.asked()).fail('ECONNREFUSED');
    await first.done;
    const second = fixture.begin(ask({ model: 'raft' }), KEY);
    (await second.asked()).answer(200, chatAnswer());
    await second.done;
    expect(second.sink.sent?.status).toBe(200);
  });
});

describe('the slots of a key', () => {
  test('are taken while a call runs and free when it has ended', async () => {
    fixture = await GatewayFixture.open({ slots: { calls: 1, streams: null } });
    const key = { accountId: 1n, name: 'k', sha256Hex: 'a'.repeat(64), prefix: 'tg', lastFour: 'abcd' };
    const terms = {
      personId: null,
      capNanousd: null,
      capWindow: 'lifetime',
      expiresMs: null,
      models: null,
      permissions: [],
      onUnsupported: 'refuse',
      createdMs: 0,
    } as const;
    await fixture.store.createKey({ id: 9n, ...key, ...terms });
    fixture.caller = { accountId: 1n, keyId: 9n, key: null };
    const first = fixture.begin();
    const request = await first.asked();
    const second = fixture.begin();
    await second.done;
    expect(second.sink.sent?.status).toBe(429);
    expect(fixture.trace).toEqual(['hold', 'send alpha', 'head', 'end']);
    request.answer(200, chatAnswer());
    await first.done;
    expect(fixture.gateway.slots.keys).toBe(0);
  });
});
