import { expect, it } from 'vitest';
import { dropPieces, isMovable, joinPieces, pieceBehindHead, takePieces } from './joined-pieces.ts';

const BYTES = 16 * 1024;

/** As a socket delivers it: in memory of its own. */
function piece(bytes: number, fill = 'x'): Buffer {
  return Buffer.from(new ArrayBuffer(bytes)).fill(fill);
}

it('joins pieces in order, and gives them out once', () => {
  const pieces = [piece(BYTES, 'a'), piece(BYTES, 'b')];
  const joined = joinPieces(pieces);
  expect(joined.toString()).toBe('a'.repeat(BYTES) + 'b'.repeat(BYTES));
  expect(takePieces(joined)).toBe(pieces);
  expect(takePieces(joined)).toBeNull();
});

it('returns a single piece as it is', () => {
  const only = piece(4 * BYTES);
  expect(joinPieces([only])).toBe(only);
  expect(takePieces(only)).toBeNull();
});

it.each([
  ['small pieces', [piece(BYTES), piece(BYTES - 1)]],
  ['pieces whose memory has something else in it', [piece(3 * BYTES).subarray(1), piece(3 * BYTES).subarray(0, BYTES)]],
])('remembers no %s', (_, pieces) => {
  const joined = joinPieces(pieces);
  expect(joined.length).toBe(pieces[0]!.length + pieces[1]!.length);
  expect(takePieces(joined)).toBeNull();
});

it('forgets pieces that were dropped', () => {
  const joined = joinPieces([piece(BYTES), piece(BYTES)]);
  dropPieces(joined);
  expect(takePieces(joined)).toBeNull();
});

it.each([
  ['is movable behind the head of its own request', piece(2 * BYTES), 4 * BYTES, true],
  ['is not movable behind another request', piece(2 * BYTES).subarray(10), 4 * BYTES, false],
  ['is not movable if another request may follow', piece(2 * BYTES), BYTES, false],
  ['is not movable if it is small', piece(BYTES), 4 * BYTES, false],
])('the first piece of a body %s', (_, read, bodyBytes, expected) => {
  const first = pieceBehindHead(read, 300, bodyBytes);
  expect(first.length).toBe(read.length - 300);
  expect(isMovable(first)).toBe(expected);
});
