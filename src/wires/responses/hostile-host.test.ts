import { expect, test } from 'vitest';
import { framesOf, type Json, TERMS } from '../../../test/responses-stream.ts';
import { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { mendStream } from './mend.ts';
import { readStream } from './read-stream.ts';

/** What malicious hosts never stop sending: none of it may accumulate. */

const frame = (event: Json): SseFrame => new SseFrame(framesOf([event]));

const added = (index: number): Json => ({
  type: 'response.output_item.added',
  output_index: index,
  item: { id: `msg_${index}`, type: 'message', content: [] },
});

const words = (index: number, part: number, delta: string): Json => ({
  type: 'response.output_text.delta',
  item_id: `msg_${index}`,
  output_index: index,
  content_index: part,
  delta,
});

function openReader() {
  return readStream({}, () => {});
}

test('a stream that opens again and again is opened once', () => {
  const relay = mendStream(TERMS);
  const opening = { type: 'response.in_progress', response: { id: 'resp_1' } };
  relay.frame(frame({ ...opening, type: 'response.created' }));
  for (let times = 0; times < 100; times++) expect(relay.frame(frame(opening))).toBeNull();
  const text = String(relay.frame(frame(added(0))));
  expect(text.match(/event: response\.in_progress/g)).toHaveLength(1);
});

test.each(['constructor', '__proto__', 'toString'])('an item of the type %s gets a neutral id', (type) => {
  const relay = mendStream(TERMS);
  const text = String(relay.frame(frame({ ...added(0), item: { type } })));
  expect(text).toMatch(/"id":"item_\w+_0"/);
});

test('more items than an answer may hold break it', () => {
  const relay = mendStream(TERMS);
  const reader = openReader();
  for (let index = 0; index < LIMITS.outputItemsMax; index++) {
    relay.frame(frame(added(index)));
    reader.frame(frame(added(index)));
  }
  expect(relay.error).toBeNull();
  relay.frame(frame(added(LIMITS.outputItemsMax)));
  expect(relay.error?.message).toContain('too many output items');
  expect(() => reader.frame(frame(added(LIMITS.outputItemsMax)))).toThrow(/too many output items/);
});

test('more parts than an item may hold break it', () => {
  const relay = mendStream(TERMS);
  const reader = openReader();
  relay.frame(frame(added(0)));
  reader.frame(frame(added(0)));
  const say = (part: number): void => {
    relay.frame(frame(words(0, part, 'x')));
    reader.frame(frame(words(0, part, 'x')));
  };
  for (let part = 0; part < LIMITS.outputItemsMax; part++) say(part);
  expect(relay.error).toBeNull();
  expect(() => say(LIMITS.outputItemsMax)).toThrow(/too many parts/);
  expect(relay.error?.message).toContain('too many parts');
});

test('words that wait for their turn are bounded', () => {
  const reader = openReader();
  reader.frame(frame(added(0)));
  reader.frame(frame(added(1)));
  const piece = 'x'.repeat(LIMITS.streamWordBytesMax / 4);
  for (let times = 0; times < 4; times++) reader.frame(frame(words(1, 0, piece)));
  expect(() => reader.frame(frame(words(1, 0, 'x')))).toThrow(/too long/);
});

test('words that wait in many small pieces are joined', () => {
  const said: string[] = [];
  const reader = readStream({}, (event) => void (event.kind === 'block-delta' && said.push(event.text)));
  reader.frame(frame(added(0)));
  reader.frame(frame(added(1)));
  for (let times = 0; times < 5_000; times++) reader.frame(frame(words(1, 0, String(times % 10))));
  reader.frame(frame({ type: 'response.output_item.done', output_index: 0, item: { id: 'msg_0', type: 'message' } }));
  expect(said.join('')).toBe('0123456789'.repeat(500));
  expect(said.length).toBeLessThan(10);
});

test('items that are kept for the end are bounded together', () => {
  const relay = mendStream(TERMS);
  const junk = 'x'.repeat(LIMITS.sseFrameBytesMax - 1_000);
  for (let index = 0; index < 9 && relay.error === null; index++) {
    relay.frame(frame({ ...added(index), item: { id: `m${index}`, type: 'message', content: [], junk } }));
  }
  expect(relay.error?.message).toContain('too large');
});

test('text that waits in many items is limited for all of them together', () => {
  const reader = openReader();
  const half = 'x'.repeat(LIMITS.streamWordBytesMax / 2);
  for (let index = 0; index < 3; index++) reader.frame(frame(added(index)));
  reader.frame(frame(words(1, 0, half)));
  reader.frame(frame(words(2, 0, half)));
  expect(() => reader.frame(frame(words(2, 0, 'x')))).toThrow("the host's response is too long");
});
