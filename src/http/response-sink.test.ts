import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ResponseRoom, responseMemory } from '../gateway/guards/response-room.ts';
import type { OutboundResponse } from '../http1/server.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { ResponseSink } from './response-sink.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const TERMS = { clock: new ManualClock(), stallMs: 1, draining: () => false };

function open(): { readonly sink: ResponseSink; readonly response: OutboundResponse } {
  const room = new ResponseRoom(responseMemory(), null);
  const response = { closes: false, destroyed: false, pendingBytes: 0, end: () => {} } as unknown as OutboundResponse;
  return {
    response,
    sink: new ResponseSink(response, TERMS, room),
  };
}

/** In a function of its own, so that no variable keeps the call alive. */
function listenForCall(sink: ResponseSink): WeakRef<object> {
  const call = { body: 'a whole call' };
  sink.onGone(() => expect(call).toBeNull());
  sink.onDrain(() => expect(call).toBeNull());
  return new WeakRef(call);
}

test('keeps a call alive until its response has ended, and no longer', async () => {
  const { sink } = open();
  const call = listenForCall(sink);
  await Promise.resolve();
  collectGarbage();
  expect(call.deref()).toBeDefined();
  sink.end('done');
  // A reference that was read stays valid until the end of the current job.
  await new Promise(setImmediate);
  collectGarbage();
  expect(call.deref()).toBeUndefined();
  expect(sink.gone).toBe(false);
});

test('tells nobody that the client is gone after the response has ended', () => {
  const { sink, response } = open();
  const told: string[] = [];
  sink.onGone(() => told.push('gone'));
  sink.end('done');
  response.onClose?.();
  expect(told).toEqual([]);
});

/** A client that reads nothing until it is told to. */
class SlowResponse {
  pendingBytes = 0;
  destroyed = false;
  closes = false;
  onClose: (() => void) | null = null;
  onDrain: (() => void) | null = null;

  write(bytes: Buffer | string): boolean {
    this.pendingBytes += bytes.length;
    return false;
  }

  end(bytes: Buffer | string): void {
    this.write(bytes);
  }

  read(): void {
    this.pendingBytes = 0;
    this.onDrain?.();
  }

  close(): void {
    this.destroyed = true;
    this.onClose?.();
  }
}

function openSlow() {
  const memory = responseMemory();
  const response = new SlowResponse();
  const room = new ResponseRoom(memory, { accountId: 1n, keyId: 1n });
  return { memory, response, sink: new ResponseSink(response as unknown as OutboundResponse, TERMS, room) };
}

test('counts a large response as unread until its client has read it or left', () => {
  const bytes = Buffer.alloc(3 * LIMITS.responsePieceBytes);
  const read = openSlow();
  read.sink.end(bytes);
  expect(read.memory.bytes).toBe(bytes.length);
  for (let piece = 0; piece < 3; piece++) read.response.read();
  expect(read.memory.bytes).toBe(0);
  const left = openSlow();
  left.sink.end(bytes);
  left.response.close();
  expect(left.memory.bytes).toBe(0);
});

test('counts what a client has not read of a stream, and nothing once it has', () => {
  const { memory, response, sink } = openSlow();
  expect(sink.write('x'.repeat(1_000))).toBe(false);
  expect(memory.bytes).toBe(1_000);
  response.read();
  expect(memory.bytes).toBe(0);
});

test('gives back the memory of a response that was not sent, because its client left', () => {
  const { memory, response, sink } = openSlow();
  sink.room.keep(10 * LIMITS.answerBytesFree);
  response.close();
  expect(memory.bytes).toBeGreaterThan(0);
  sink.callEnds();
  expect(memory.bytes).toBe(0);
});
