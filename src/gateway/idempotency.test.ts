import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MasterSealer, masterKey } from '../custody/seal.ts';
import { headerLines } from '../http1/headers.ts';
import { ManualClock } from '../kit/clock.ts';
import type { Repeat } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { Call } from './call.ts';
import { KeptBudget } from './guards/kept-budget.ts';
import { answerAgain, keepResponse, readIdempotencyMark } from './idempotency.ts';

const sealer = new MasterSealer([masterKey(randomBytes(32))]);
const keeper = { sealer, keptBudget: new KeptBudget({ clock: new ManualClock() }) };

function aCall(over: Partial<Call> = {}): Call {
  const caller = { accountId: 1n, keyId: null, key: null };
  const headers = { 'idempotency-key': 'k' };
  return { id: 5n, route: '/v1/x', caller, headers, body: Buffer.from('{}'), ...over } as Call;
}

const markOf = (call: Call) => readIdempotencyMark(call)!;
const finished = (kept: Uint8Array | null, callId = 5n): Repeat => ({
  kind: 'idempotent',
  state: 'finished',
  callId,
  kept,
});

describe('a stored response', () => {
  const call = aCall();
  const answer = { status: 200, lines: 'x-gateway-cost-nanousd: 7\r\n', body: Buffer.from('{"a":1}\n{}') };

  test('is sent again unchanged, with a header that marks it as a replay', () => {
    const anyAnswer = fc.record({
      status: fc.integer({ min: 100, max: 599 }),
      headers: fc.dictionary(
        fc.stringMatching(/^x-[a-z0-9-]{1,12}$/),
        fc.stringMatching(/^(?:[!-~](?:[ -~]*[!-~])?)?$/),
      ),
      body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    });
    fc.assert(
      fc.property(anyAnswer, ({ status, headers, body }) => {
        const kept = keepResponse(keeper, call, markOf(call), { status, lines: headerLines(headers), body });
        const again = answerAgain(sealer, aCall({ id: 6n }), markOf(call), finished(kept));
        expect(again).toEqual({ status, lines: headerLines({ ...headers, 'idempotency-replayed': 'true' }), body });
      }),
    );
  });

  test('is stored up to the size limit; above it only the fact of the call is stored', () => {
    const sized = (bytes: number) => keepResponse(keeper, call, markOf(call), { ...answer, body: Buffer.alloc(bytes) });
    expect(sized(LIMITS.idempotencyAnswerBytesMax)).not.toBeNull();
    expect(sized(LIMITS.idempotencyAnswerBytesMax + 1)).toBeNull();
  });

  test('is not stored if the budget of its account is used up', () => {
    const keptBudget = new KeptBudget({ clock: new ManualClock(), bytesPerAccountMax: 2 * answer.body.length });
    const keep = () => keepResponse({ sealer, keptBudget }, call, markOf(call), answer) !== null;
    expect([keep(), keep(), keep()]).toEqual([true, true, false]);
  });

  test.each([
    ['another account', aCall({ caller: { accountId: 2n, keyId: null, key: null } }), 5n],
    ['another key', aCall({ headers: { 'idempotency-key': 'other' } }), 5n],
    ['another call', call, 6n],
  ])('does not open for %s', (_title, other, callId) => {
    const kept = keepResponse(keeper, call, markOf(call), answer);
    expect(() => answerAgain(sealer, other, markOf(other), finished(kept, callId))).toThrow('is finished');
  });

  test('that can no longer be opened leads to an error that names the receipt', () => {
    const kept = keepResponse(
      { ...keeper, sealer: new MasterSealer([masterKey(randomBytes(32))]) },
      call,
      markOf(call),
      answer,
    );
    expect(() => answerAgain(sealer, call, markOf(call), finished(kept))).toThrow('/v1/receipts/req_');
  });
});

describe('requests are the same', () => {
  const digest = (over: Partial<Call>) => Buffer.from(markOf(aCall(over)).bodySha256).toString('hex');

  test('if body and route are equal, whatever else differs', () => {
    const same = digest({});
    expect(digest({ id: 9n, headers: { 'idempotency-key': 'k', 'x-other': '1' } })).toBe(same);
    expect(digest({ body: Buffer.from('{ }') })).not.toBe(same);
    expect(digest({ route: '/v1/y' })).not.toBe(same);
    expect(digest({ route: '/v1/x\n', body: Buffer.from('{}') })).not.toBe(same);
  });

  test('only if a key was sent', () => {
    expect(readIdempotencyMark(aCall({ headers: {} }))).toBeNull();
  });
});
