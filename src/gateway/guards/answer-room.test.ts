import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { AnswerRoom, answerMemory, refuseUnread } from './answer-room.ts';

const { answersBytesMax: ALL, answersBytesPerAccountMax: ONE, answersBytesLent: LENT, answerBytesFree: FREE } = LIMITS;

function caller(accountId: bigint) {
  return { accountId, keyId: 7n, key: null };
}

test('counts what is kept of a response, without its first part, and returns it at the end', () => {
  const memory = answerMemory();
  const room = new AnswerRoom(memory, caller(1n));
  expect([room.keep(FREE), memory.bytes]).toEqual([true, 0]);
  expect([room.keep(3 * FREE), memory.bytes]).toEqual([true, 2 * FREE]);
  expect([room.keep(2 * FREE), memory.bytes]).toEqual([true, FREE]);
  room.end(0);
  expect(memory.bytes).toBe(0);
});

test('gives one account its share, whichever keys it uses, and leaves the rest to others', () => {
  const memory = answerMemory();
  expect(memory.take(3n, LENT)).toBe(true);
  const first = new AnswerRoom(memory, caller(1n));
  expect(first.keep(FREE + ONE)).toBe(true);
  const second = new AnswerRoom(memory, { ...caller(1n), keyId: 8n });
  expect([second.keep(FREE + 1), memory.bytes]).toEqual([false, LENT + ONE]);
  expect(new AnswerRoom(memory, caller(2n)).keep(ONE)).toBe(true);
  first.end(0);
  expect(second.keep(FREE + 1)).toBe(true);
});

test('lends an account more than its share while nobody else needs it', () => {
  const memory = answerMemory();
  const embeddings = Array.from({ length: 8 }, () => new AnswerRoom(memory, caller(1n)));
  for (const room of embeddings) expect(room.keep(60 * 1024 * 1024)).toBe(true);
  expect(refuseUnread(memory, caller(1n))).toBeNull();
  expect(memory.take(2n, ONE)).toBe(true);
  expect(refuseUnread(memory, caller(1n))).toMatchObject({ status: 429 });
  expect(new AnswerRoom(memory, caller(1n)).keep(FREE + 1)).toBe(false);
  for (const room of embeddings) room.end(0);
  expect(memory.bytes).toBe(ONE);
});

test('refuses large responses of all accounts when no memory is left, and small ones of none', () => {
  const memory = answerMemory();
  for (let account = 1n; account <= BigInt(ALL / ONE); account++)
    expect(new AnswerRoom(memory, caller(account)).keep(FREE + ONE)).toBe(true);
  const other = new AnswerRoom(memory, caller(99n));
  expect([other.keep(FREE), other.keep(FREE + 1)]).toEqual([true, false]);
  expect(new AnswerRoom(memory, null).keep(FREE + 1)).toBe(false);
});

test('counts unread bytes beyond the limit, and refuses the account until its clients have read them', () => {
  const memory = answerMemory();
  const room = new AnswerRoom(memory, caller(1n));
  room.keep(FREE + LENT);
  room.end(LENT + 10);
  expect(memory.bytes).toBe(LENT + 10);
  expect(refuseUnread(memory, caller(1n))).toMatchObject({ status: 429, retryAfterS: 1 });
  expect(refuseUnread(memory, caller(2n))).toBeNull();
  expect(refuseUnread(memory, { ...caller(1n), keyId: null })).toBeNull();
  room.leaveUnread(0);
  expect([refuseUnread(memory, caller(1n)), memory.bytes]).toEqual([null, 0]);
});
