import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { OutboundResponse } from '../http1/server.ts';
import { ManualClock } from '../kit/clock.ts';
import { ResponseSink } from './response-sink.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function open(): { readonly sink: ResponseSink; readonly response: OutboundResponse } {
  const response = { closes: false, destroyed: false, pendingBytes: 0, end: () => {} } as unknown as OutboundResponse;
  return {
    response,
    sink: new ResponseSink(response, { clock: new ManualClock(), stallMs: 1, draining: () => false }),
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
