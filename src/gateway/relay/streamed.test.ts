import { describe, expect, test } from 'vitest';
import { type Attempt, BILL, prepareAttempt, startAttempt } from '../../../test/attempt-fixture.ts';
import { chatAnswer, chatFrame, FINISH_FRAME, USAGE_FRAME } from '../../../test/fake-hosts.ts';
import { ask, type GatewayOptions } from '../../../test/gateway-fixture.ts';
import { LIMITS } from '../../limits.ts';
import { relayStreamed } from './streamed.ts';

const REST = [FINISH_FRAME, USAGE_FRAME, '[DONE]'] as const;

function start(options?: GatewayOptions): Promise<Attempt> {
  return startAttempt(relayStreamed, ask({ stream: true }), options);
}

describe('frames', () => {
  test('leave as they come, the head with the first of them', async () => {
    const { fixture, sink, request } = await start();
    request.head(200, { 'content-type': 'text/event-stream' });
    expect(sink.headSent).toBe(false);
    request.frames(chatFrame('Hel'));
    expect(sink.sent).toMatchObject({
      status: 200,
      headers: { 'x-gateway-request-id': 'req_1', 'content-type': 'text/event-stream; charset=utf-8' },
      length: null,
    });
    expect(JSON.parse(sink.frames[0]!)).toMatchObject({ model: 'ferry', choices: [{ delta: { content: 'Hel' } }] });
    request.frames(chatFrame('l'), chatFrame('o'));
    expect(fixture.trace.filter((note) => note === 'write')).toHaveLength(2);
    expect(sink.frames).toHaveLength(3);
  });

  test('of one read leave in one write, even when the read is cut within a frame', async () => {
    const { fixture, sink, request } = await start();
    request.stream(chatFrame('a'), chatFrame('b'));
    const text = `data: ${JSON.stringify(chatFrame('c'))}\n\n`;
    request.data(text.slice(0, 30));
    request.data(text.slice(30));
    expect(fixture.trace.filter((note) => note === 'write')).toHaveLength(2);
    expect(sink.frames).toHaveLength(3);
  });

  test('of the end are kept back until they are delivered, with the bill', async () => {
    const { sink, request, result } = await start();
    request.stream(chatFrame('Hello'), ...REST);
    const streamed = await result;
    expect(streamed).toMatchObject({
      ended: 'complete',
      contentLeft: true,
      retryable: false,
      usage: { state: 'reported' },
    });
    expect(sink.text).not.toContain('[DONE]');
    streamed.deliver(BILL, '');
    expect(sink.frames.at(-1)).toBe('[DONE]');
    expect(sink.ended).toBe(true);
  });

  test('after the terminator are not passed on', async () => {
    const { sink, request, result } = await start();
    request.stream(chatFrame('Hello'), ...REST, chatFrame('more'));
    request.frames(chatFrame('and more'));
    (await result).deliver(BILL, '');
    expect(sink.text).not.toContain('more');
  });

  test('are made of a whole answer where the host does not stream', async () => {
    const { sink, request, result } = await start();
    request.answer(200, chatAnswer());
    (await result).deliver(BILL, '');
    expect(sink.text).toContain('Hello');
    expect(sink.frames.at(-1)).toBe('[DONE]');
  });
});

describe('a failure before any content', () => {
  test('of the connection may be retried, and nothing has left', async () => {
    const { sink, request, result } = await start();
    request.fail('ECONNRESET');
    expect(await result).toMatchObject({ ended: 'failed', retryable: true, httpStatus: 502, contentLeft: false });
    expect(sink.headSent).toBe(false);
  });

  test('in the first frame is an HTTP error that may be retried', async () => {
    const { sink, request, result } = await start();
    request.stream({ error: { message: 'overloaded', type: 'server_error' } });
    expect(await result).toMatchObject({ ended: 'failed', retryable: true, contentLeft: false });
    expect(sink.headSent).toBe(false);
  });

  test('by compression, by an answer that is neither, by an end without frames', async () => {
    const encoded = await start();
    encoded.request.head(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    expect(await encoded.result).toMatchObject({ ended: 'failed', retryable: true });
    expect(encoded.request.cancelled).toBe(true);
    const neither = await start();
    neither.request.answer(200, '<html>');
    expect(await neither.result).toMatchObject({ ended: 'failed', retryable: true });
    const empty = await start();
    empty.request.stream();
    empty.request.end();
    expect(await empty.result).toMatchObject({ ended: 'failed', retryable: true });
  });
});

test('a 413 whose body was lost is no word about the window', async () => {
  const { request, result } = await start();
  request.head(413);
  request.data('{"error');
  request.fail('ECONNRESET');
  expect(await result).toMatchObject({ error: { kind: 'host_refused_request' } });
});

describe('a failure after content', () => {
  test('ends the stream with an error frame and is never retried', async () => {
    const { sink, request, result } = await start();
    request.stream(chatFrame('Hel'));
    request.fail('ECONNRESET');
    const streamed = await result;
    expect(streamed).toMatchObject({ ended: 'upstream_error', httpStatus: 200, retryable: false, contentLeft: true });
    streamed.deliver(BILL, '');
    expect(JSON.parse(sink.frames.at(-1)!)).toMatchObject({ error: { code: 'host_failed' } });
    expect(sink.text).not.toContain('[DONE]');
  });

  test('an end without terminator is one', async () => {
    const { request, result } = await start();
    request.stream(chatFrame('Hel'));
    request.end();
    expect(await result).toMatchObject({ ended: 'upstream_error', error: { code: 'host_failed' } });
  });

  test('a frame that cannot be read is one, and what stood before it has left', async () => {
    const { sink, request, result } = await start();
    request.stream(chatFrame('Hel'), '{"broken"');
    expect(await result).toMatchObject({ ended: 'upstream_error', retryable: false });
    expect(sink.frames).toHaveLength(1);
  });
});

describe('a client that leaves', () => {
  test('before any content stops the host', async () => {
    const { sink, request, result } = await start();
    sink.leave();
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'client_gone', httpStatus: 499, contentLeft: false, drained: false });
  });

  test('after content has the host read to its end, and gets nothing more', async () => {
    const { sink, request, result } = await start();
    request.stream(chatFrame('Hel'));
    const text = sink.text;
    sink.leave();
    request.frames(chatFrame('lo'), ...REST);
    const streamed = await result;
    expect(streamed).toMatchObject({ ended: 'client_gone', drained: true, relayedBytes: 3 });
    streamed.deliver(BILL, '');
    expect(sink.text).toBe(text);
  });

  test('after content stops a host that can be stopped', async () => {
    const { sink, request, result } = await start({ row: { onClientGone: 'cancel' } });
    request.stream(chatFrame('Hel'));
    sink.leave();
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'client_gone', drained: false, contentLeft: true });
  });

  test('is not waited for longer than the drain may take', async () => {
    const { fixture, sink, request, result } = await start();
    request.stream(chatFrame('Hel'));
    sink.leave();
    fixture.clock.advance(fixture.gateway.limits.drainMs);
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'client_gone', drained: false });
  });
});

describe('a client that reads slowly', () => {
  test('pauses the host until it has read', async () => {
    const { sink, request } = await start();
    sink.isFull = true;
    request.stream(chatFrame('Hel'));
    expect(request.paused).toBe(true);
    sink.drain();
    expect(request.paused).toBe(false);
  });

  test('counts as gone if it reads nothing for so long, and its connection is broken', async () => {
    const { fixture, sink, request, result } = await start();
    sink.isFull = true;
    request.stream(chatFrame('Hel'));
    fixture.clock.advance(fixture.gateway.limits.stallMs);
    expect(sink.destroyed).toBe(true);
    expect(request.paused).toBe(false);
    request.frames(...REST);
    expect(await result).toMatchObject({ ended: 'stalled', httpStatus: 499, drained: true });
  });
});

describe('time', () => {
  test('the first frame may take as long as its limit says', async () => {
    const { fixture, request, result } = await start();
    fixture.clock.advance(fixture.gateway.limits.firstFrameMs);
    expect(request.cancelled).toBe(true);
    expect(await result).toMatchObject({ ended: 'timeout', httpStatus: 504, retryable: false });
  });

  test('after content a shorter silence ends the stream, and content is charged', async () => {
    const { fixture, request, result } = await start();
    request.stream(chatFrame('Hel'));
    fixture.clock.advance(fixture.gateway.limits.idleMs);
    expect(await result).toMatchObject({ ended: 'timeout', httpStatus: 200, contentLeft: true });
  });

  test('a host that we paused ourselves is not silent', async () => {
    const { fixture, sink, request } = await start();
    sink.isFull = true;
    request.stream(chatFrame('Hel'));
    fixture.clock.advance(fixture.gateway.limits.stallMs - 1);
    expect(request.cancelled).toBe(false);
  });

  test('a silent host is bridged with keep-alives from its head on', async () => {
    const { fixture, sink, request } = await start();
    fixture.clock.advance(fixture.gateway.limits.keepAliveMs);
    expect(sink.headSent).toBe(false);
    request.head(200, { 'content-type': 'text/event-stream' });
    fixture.clock.advance(fixture.gateway.limits.keepAliveMs);
    expect(sink.text).toMatch(/^:/);
    expect(sink.frames).toEqual([]);
  });

  test('a stream that runs too long is ended', async () => {
    const { fixture, request, result } = await start();
    request.stream(chatFrame('a'));
    for (let ms = 0; ms < fixture.gateway.limits.streamMs; ms += 15_000) {
      request.frames(chatFrame('b'));
      fixture.clock.advance(15_000);
    }
    expect(await result).toMatchObject({ ended: 'timeout', error: { code: 'host_timeout' } });
  });

  test('a shutdown breaks the stream off with an error frame', async () => {
    const { fixture, sink, request, result } = await start();
    request.stream(chatFrame('Hel'));
    fixture.gateway.runningCalls.cutOff();
    const streamed = await result;
    expect(streamed).toMatchObject({ ended: 'shutdown', contentLeft: true });
    streamed.deliver(BILL, '');
    expect(JSON.parse(sink.frames.at(-1)!)).toMatchObject({ error: { code: 'shutting_down' } });
  });

  test('no host is asked once calls are cut off', async () => {
    const { fixture, terms } = await prepareAttempt(ask({ stream: true }));
    fixture.gateway.runningCalls.cutOff();
    expect(await relayStreamed(terms)).toMatchObject({ ended: 'shutdown', httpStatus: 503 });
    expect(fixture.hosts.requests).toEqual([]);
  });

  test('a host may close its connection in its own time after the end, but not for ever', async () => {
    const { fixture, request, result } = await start();
    request.stream(chatFrame('Hello'), ...REST);
    await result;
    expect(request.cancelled).toBe(false);
    fixture.clock.advance(LIMITS.hostLingerMs);
    expect(request.cancelled).toBe(true);
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  test('tells when the first content came, from the hold, and not when the head came', async () => {
    const { fixture, request, result } = await start();
    fixture.clock.advance(250);
    request.stream(chatFrame(''));
    fixture.clock.advance(1_000);
    request.frames(chatFrame('Hello'));
    fixture.clock.advance(500);
    request.frames(...REST);
    expect(await result).toMatchObject({ firstByteMs: 1_250 });
  });

  test('has no time of a first content if there was none', async () => {
    const { request, result } = await start();
    request.stream(...REST);
    expect(await result).toMatchObject({ firstByteMs: null });
  });

  test('tells how long the host took to begin', async () => {
    const { fixture, request, result } = await start();
    fixture.clock.advance(250);
    request.stream(chatFrame('Hello'), ...REST);
    expect(await result).toMatchObject({ sign: { kind: 'well', firstByteMs: 250 } });
  });
});
