import { describe, expect, test } from 'vitest';
import { type Attempt, BILL, prepareAttempt, startAttempt } from '../../../test/attempt-fixture.ts';
import { chatAnswer, type SentRequest } from '../../../test/fake-hosts.ts';
import { ask, type GatewayOptions, HOST_KEY } from '../../../test/gateway-fixture.ts';
import { LIMITS } from '../../limits.ts';
import { relayBuffered } from './buffered.ts';

function start(options?: GatewayOptions): Promise<Attempt> {
  return startAttempt(relayBuffered, ask(), options);
}

describe('a whole answer', () => {
  test('goes to the client only when it is delivered, with the bill written in', async () => {
    const { sink, request, result } = await start();
    request.answer(200, chatAnswer());
    const answered = await result;
    expect(answered).toMatchObject({
      ended: 'complete',
      httpStatus: 200,
      retryable: false,
      usage: { state: 'reported' },
    });
    expect(sink.headSent).toBe(false);
    answered.deliver(BILL, 'x-gateway-cost-nanousd: 180\r\n');
    expect(sink.sent).toMatchObject({
      status: 200,
      headers: {
        'x-gateway-request-id': 'req_1',
        'x-gateway-cost-nanousd': '180',
        'content-type': 'application/json',
      },
    });
    expect(sink.json).toMatchObject({ model: 'ferry', usage: { cost: BILL.costUsd } });
    expect(sink.ended).toBe(true);
  });

  test('may come in pieces', async () => {
    const { request, result, sink } = await start();
    const text = JSON.stringify(chatAnswer());
    request.head(200);
    request.data(text.slice(0, 9), text.slice(9, 20));
    request.data(text.slice(20));
    request.end();
    (await result).deliver(BILL, '');
    expect(sink.json).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
  });

  test('in one piece for keeping is what the client gets', async () => {
    const { request, result, sink } = await start();
    request.answer(200, chatAnswer());
    const answered = await result;
    const whole = answered.whole!(BILL, 'a: b\r\n');
    answered.deliver(BILL, 'a: b\r\n');
    expect(whole.body.toString()).toBe(sink.text);
    expect(whole).toMatchObject({
      status: 200,
      lines: 'x-gateway-request-id: req_1\r\na: b\r\ncontent-type: application/json\r\n',
    });
  });

  test('of a client that left is charged by the host’s own count and sent to nobody', async () => {
    const { sink, request, result } = await start();
    sink.leave();
    request.answer(200, chatAnswer());
    const answered = await result;
    expect(answered).toMatchObject({ ended: 'client_gone', httpStatus: 499, drained: true });
    answered.deliver(BILL, '');
    expect(sink.headSent).toBe(false);
  });
});

describe('a failure', () => {
  test.each<[string, (request: SentRequest) => void, object]>([
    ['no connection', (request) => request.fail('ECONNREFUSED'), { retryable: true, error: { code: 'host_failed' } }],
    ['an error status', (request) => request.answer(500, { error: { message: 'x' } }), { retryable: true }],
    ['compression', (request) => request.head(200, { 'content-encoding': 'gzip' }), { retryable: false }],
    ['an answer that cannot be read', (request) => request.answer(200, '<html>'), { retryable: false }],
    ['an answer of another shape', (request) => request.answer(200, { ok: true }), { retryable: false }],
    [
      'an error in an answer’s place',
      (request) => request.answer(200, { error: { message: 'x' } }),
      { retryable: false },
    ],
  ])('%s: nothing is charged, nothing is sent', async (_, failing, expected) => {
    const { sink, request, result } = await start();
    failing(request);
    expect(await result).toMatchObject({
      ended: 'failed',
      contentLeft: false,
      usage: { state: 'missing' },
      ...expected,
    });
    (await result).deliver(BILL, '');
    expect(sink.headSent).toBe(false);
  });

  test('a 413 whose body was lost is no word about the window', async () => {
    const { request, result } = await start();
    request.head(413, { 'content-encoding': 'br' });
    expect(await result).toMatchObject({ error: { kind: 'host_refused_request' } });
    const empty = await start();
    empty.request.answer(413, '');
    expect(await empty.result).toMatchObject({ error: { kind: 'host_context_length_exceeded' } });
  });

  test('that breaks the connection off stops the host', async () => {
    const { request, result } = await start();
    request.head(200, { 'content-encoding': 'br' });
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ sign: { kind: 'failed' } });
  });

  test('an answer above the limit is broken off', async () => {
    const { request, result } = await start();
    request.head(200);
    const megabytes = 'x'.repeat(16 * 1024 * 1024);
    for (let bytes = 0; bytes <= LIMITS.responseBodyBytesMax; bytes += megabytes.length) request.data(megabytes);
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'failed', error: { code: 'host_failed' } });
  });

  test('what comes after the end of an attempt changes nothing', async () => {
    const { request, result } = await start();
    request.fail('ECONNRESET');
    request.answer(200, chatAnswer());
    expect(await result).toMatchObject({ ended: 'failed' });
  });

  test('our key in a host’s words is hidden from the caller', async () => {
    const { request, result } = await start();
    request.answer(400, { error: { message: `bad ${HOST_KEY}`, type: 'invalid_request_error', param: HOST_KEY } });
    const { error } = await result;
    expect(error).toMatchObject({ kind: 'host_refused_request' });
    expect(JSON.stringify(error)).not.toContain(HOST_KEY);
    expect(error?.message).toContain('[key]');
  });

  test('our key in a host’s words is hidden from the caller where they are cut, too', async () => {
    const { request, result } = await start();
    const before = 'x'.repeat(LIMITS.hostErrorCharactersMax - HOST_KEY.length + 1);
    request.answer(400, { error: { message: `${before}${HOST_KEY} is bad`, type: 'invalid_request_error' } });
    expect((await result).error?.message).toBe(`${before}[key]`);
  });
});

describe('time', () => {
  test('an answer that takes too long is a timeout; the host is stopped and nothing is charged', async () => {
    const { fixture, request, result } = await start();
    fixture.clock.advance(fixture.gateway.limits.bufferedMs - 1);
    expect(request.cancelled).toBe(false);
    fixture.clock.advance(1);
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({
      ended: 'timeout',
      error: { code: 'host_timeout', status: 504 },
      retryable: false,
    });
  });

  test('a host is read to its end after the client left, but not for ever', async () => {
    const { fixture, sink, request, result } = await start();
    sink.leave();
    fixture.clock.advance(fixture.gateway.limits.drainMs);
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'client_gone', drained: false });
  });

  test('a host that can be stopped is stopped when the client leaves', async () => {
    const { sink, request, result } = await start({ row: { onClientGone: 'cancel' } });
    sink.leave();
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'client_gone', drained: false, error: null });
  });

  test('a shutdown ends the call with a word on trying again', async () => {
    const { fixture, request, result } = await start();
    fixture.gateway.runningCalls.cutOff();
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'shutdown', error: { code: 'shutting_down', retryAfterS: 1 } });
  });

  test('no host is asked once calls are cut off', async () => {
    const { fixture, terms } = await prepareAttempt(ask());
    fixture.gateway.runningCalls.cutOff();
    expect(await relayBuffered(terms)).toMatchObject({ ended: 'shutdown' });
    expect(fixture.hosts.requests).toEqual([]);
  });

  test('leaves no timer behind', async () => {
    const { fixture, sink, request, result } = await start();
    sink.leave();
    request.answer(200, chatAnswer());
    await result;
    expect(fixture.clock.pendingTimers).toBe(0);
  });
});
