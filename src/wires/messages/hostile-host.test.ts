import { expect, test } from 'vitest';
import { feed, TERMS } from '../../../test/messages-relay.ts';
import type { CanonicalEvent } from '../../canonical/events.ts';
import { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { mendStream } from './mend.ts';
import { readStream } from './read-stream.ts';
import { spliceResponse } from './splice-response.ts';

/** What malicious hosts leave out, or never stop sending. */

const frame = (event: { type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const STOP = frame({ type: 'message_stop' });
const ENDING = frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' } } as { type: string });

function read(text: string): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  const reader = readStream({}, (event) => events.push(event));
  for (const block of text.split('\n\n').slice(0, -1)) reader.frame(new SseFrame(Buffer.from(`${block}\n\n`)));
  reader.end();
  return events;
}

test('a stream that ends without having begun has failed', () => {
  for (const text of [STOP, ENDING + STOP]) {
    const relay = mendStream(TERMS);
    feed(relay, Buffer.from(text), 1_000);
    expect([relay.terminal, relay.error?.message]).toEqual([true, 'the host ended its stream without a response']);
  }
  const relay = mendStream(TERMS);
  feed(relay, Buffer.from(ENDING), 1_000);
  expect([relay.terminal, relay.mayEndHere]).toEqual([false, false]);
});

test('a stream that ends without having begun has failed, translated', () => {
  expect(read(STOP).map(({ kind }) => kind)).toEqual(['error']);
  expect(read(ENDING).map(({ kind }) => kind)).not.toContain('finish');
});

const PIECE = 's'.repeat(LIMITS.sseFrameBytesMax / 2);
const ENDLESS_SIGNATURE =
  frame({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } } as {
    type: string;
  }) +
  frame({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: PIECE } } as {
    type: string;
  }).repeat(3);

test('a signature larger than a frame is none', () => {
  const relay = mendStream(TERMS);
  feed(relay, Buffer.from(ENDLESS_SIGNATURE), 10_000_000);
  expect(relay.error?.message).toContain('signature');
  expect(read(ENDLESS_SIGNATURE).at(-1)?.kind).toBe('error');
});

test('a frame whose event line names an end but whose type is another is not passed as an end', () => {
  const relay = mendStream(TERMS);
  const begun = frame({ type: 'message_start', message: {} } as { type: string });
  const text = feed(relay, Buffer.from(`${begun}event: message_stop\ndata: {"type":"x"}\n\n`), 1_000);
  expect(text).not.toContain('message_stop');
});

test('a frame with nothing in it is passed over', () => {
  const relay = mendStream(TERMS);
  expect(feed(relay, Buffer.from('event: x\n\nevent: message_stop\n\nevent: ping\ndata:\n\n'), 1_000)).toBe('');
  expect([relay.terminal, relay.error]).toEqual([false, null]);
});

test('a whole answer with an error in it is the error', () => {
  const body = Buffer.from('{"type":"message","content":[],"error":{"type":"overloaded_error","message":"no"}}');
  expect(() => spliceResponse(body, TERMS)).toThrow();
});
