import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { ResponseRoom, refuseUnread, responseMemory } from './response-room.ts';

const { answersBytesMax: ALL, answerBytesFree: FREE, responseBodyBytesMax: LARGEST } = LIMITS;
/** What one account may take while others have nothing. */
const ALONE = (ALL * LIMITS.answersAccountPercent) / 100;

function caller(accountId: bigint) {
  return { accountId, keyId: 7n, key: null };
}

test('counts what is kept of a response, without its first part, and returns it at the end', () => {
  const memory = responseMemory();
  const room = new ResponseRoom(memory, caller(1n));
  expect([room.keep(FREE), memory.bytes]).toEqual([true, 0]);
  expect([room.keep(3 * FREE), memory.bytes]).toEqual([true, 2 * FREE]);
  expect([room.keep(2 * FREE), memory.bytes]).toEqual([true, FREE]);
  room.end(0);
  expect(memory.bytes).toBe(0);
});

test('gives one account half of what others leave, whichever keys it uses', () => {
  const memory = responseMemory();
  const first = new ResponseRoom(memory, caller(1n));
  expect(first.keep(FREE + ALONE)).toBe(true);
  const second = new ResponseRoom(memory, { ...caller(1n), keyId: 8n });
  expect([second.keep(FREE + 1), memory.bytes]).toEqual([false, ALONE]);
  const others = new ResponseRoom(memory, caller(2n));
  expect([others.keep(FREE + ALONE / 2 + 1), others.keep(FREE + ALONE / 2)]).toEqual([false, true]);
  first.end(0);
  expect(second.keep(FREE + 1)).toBe(true);
});

test('keeps eight large embeddings of one account while others need little', () => {
  const memory = responseMemory();
  const embeddings = Array.from({ length: 8 }, () => new ResponseRoom(memory, caller(1n)));
  for (const room of embeddings) expect(room.keep(60 * 1024 * 1024)).toBe(true);
  expect(refuseUnread(memory, caller(1n))).toBeNull();
  expect(new ResponseRoom(memory, caller(2n)).keep(FREE + ALONE / 2)).toBe(true);
  expect(refuseUnread(memory, caller(1n))).toMatchObject({ status: 429 });
  expect(new ResponseRoom(memory, caller(1n)).keep(FREE + 1)).toBe(false);
  for (const room of embeddings) room.end(0);
  expect(memory.bytes).toBe(ALONE / 2);
});

test('has memory for a large response of another account, however much three have taken', () => {
  const memory = responseMemory();
  for (const account of [1n, 2n, 3n]) {
    for (let call = 0; call < 1_000; call++) new ResponseRoom(memory, caller(account)).keep(FREE + 1024 * 1024);
  }
  expect(new ResponseRoom(memory, caller(4n)).keep(LARGEST)).toBe(true);
});

test('refuses large responses of all accounts when no memory is left, and small ones of none', () => {
  const memory = responseMemory();
  expect(memory.take(null, ALL)).toBe(true);
  const other = new ResponseRoom(memory, caller(99n));
  expect([other.keep(FREE), other.keep(FREE + 1)]).toEqual([true, false]);
  expect(new ResponseRoom(memory, null).keep(FREE + 1)).toBe(false);
});

test('counts unread bytes beyond the limit, and refuses the account until its clients have read them', () => {
  const memory = responseMemory();
  const room = new ResponseRoom(memory, caller(1n));
  room.keep(FREE + ALONE);
  room.end(ALONE + 10);
  expect(memory.bytes).toBe(ALONE + 10);
  expect(refuseUnread(memory, caller(1n))).toMatchObject({ status: 429, retryAfterS: 1 });
  expect(refuseUnread(memory, caller(2n))).toBeNull();
  expect(refuseUnread(memory, { ...caller(1n), keyId: null })).toBeNull();
  room.leaveUnread(0);
  expect([refuseUnread(memory, caller(1n)), memory.bytes]).toEqual([null, 0]);
});

test('admits an account that has left one large response unread, although others have taken all the memory', () => {
  const memory = responseMemory();
  new ResponseRoom(memory, caller(1n)).leaveUnread(2 * ALL);
  const room = new ResponseRoom(memory, caller(2n));
  room.leaveUnread(LARGEST - 1);
  expect(refuseUnread(memory, caller(2n))).toBeNull();
  room.leaveUnread(LARGEST);
  expect(refuseUnread(memory, caller(2n))).toMatchObject({ status: 429 });
});
