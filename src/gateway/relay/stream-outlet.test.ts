import { expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import type { AttemptTerms } from './attempt.ts';
import { StreamOutlet } from './stream-outlet.ts';

/** What the client gets for one write of these pieces. */
function written(pieces: readonly (Buffer | string)[]): Buffer | string {
  const writes: (Buffer | string)[] = [];
  const sink = { headSent: true, write: (bytes: Buffer | string) => writes.push(bytes) > 0 };
  const terms = { sink, clock: new ManualClock() } as unknown as AttemptTerms;
  new StreamOutlet(terms, { pause: () => {}, resume: () => {}, lost: () => {} }).write(pieces);
  expect(writes).toHaveLength(1);
  return writes[0]!;
}

const read = Buffer.from('one two six');

test('adjacent pieces are written as one buffer without a copy', () => {
  const bytes = written([read.subarray(0, 4), read.subarray(4, 8), read.subarray(8)]) as Buffer;
  expect(bytes.toString()).toBe('one two six');
  expect([bytes.buffer, bytes.byteOffset]).toEqual([read.buffer, read.byteOffset]);
});

test.each([
  ['that do not touch', [read.subarray(0, 4), read.subarray(8)], 'one six'],
  ['in another order', [read.subarray(4, 8), read.subarray(0, 4)], 'two one '],
  ['of two reads', [read.subarray(0, 4), Buffer.from('ü')], 'one ü'],
  ['of the same place in two reads', [Buffer.alloc(3, 'a').subarray(0, 1), Buffer.alloc(3, 'b').subarray(1)], 'abb'],
  ['of a read and of ours', [read.subarray(0, 4), 'ü', read.subarray(4, 8)], 'one ütwo '],
  ['of ours and of a read', ['ü ', read.subarray(0, 4)], 'ü one '],
  ['of ours', ['ü', ' ', 'b'], 'ü b'],
])('pieces %s are joined', (_name, pieces, text) => {
  expect(written(pieces).toString()).toBe(text);
});
