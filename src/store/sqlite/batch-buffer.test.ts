import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCredit, aHold } from '../../../test/store-fixtures.ts';
import { INT64_MAX, INT64_MIN } from '../int64.ts';
import { BatchBufferReader, CREDIT, fillBatchBuffer, HOLD, UNWRITABLE } from './batch-buffer.ts';

const anyInt64 = fc.bigInt(INT64_MIN + 1n, INT64_MAX);

function readCredit(buffer: BatchBufferReader) {
  return [buffer.number(), buffer.word(), buffer.word(), buffer.word(), buffer.text(), buffer.text(), buffer.number()];
}

describe('the buffer', () => {
  it('gives back every word and text as it was written', () => {
    const anyCredit = fc.record({
      id: anyInt64,
      accountId: anyInt64,
      amount: anyInt64,
      reference: fc.string({ unit: 'binary' }),
      note: fc.option(fc.constantFrom('', 'a', 'b')),
      createdMs: fc.maxSafeInteger(),
    });
    fc.assert(
      fc.property(fc.array(anyCredit), (credits) => {
        const buffer = fillBatchBuffer(credits.map(({ id, amount, ...rest }) => aCredit(id, amount, rest)));
        const reader = new BatchBufferReader(structuredClone(buffer));
        expect(reader.operations).toBe(credits.length);
        for (const { id, accountId, amount, reference, note, createdMs } of credits) {
          const clampedAmount = amount === INT64_MIN ? INT64_MIN + 1n : amount;
          expect(readCredit(reader)).toEqual([CREDIT, id, accountId, clampedAmount, reference, note, createdMs]);
        }
      }),
    );
  });

  it('keeps amounts beyond 64 bits at the bound, where they compare alike', () => {
    for (const [amount, word] of [
      [2n ** 80n, INT64_MAX],
      [-(2n ** 80n), -INT64_MAX],
    ] as const) {
      const reader = new BatchBufferReader(fillBatchBuffer([aCredit(1n, amount)]));
      expect(readCredit(reader)[3]).toBe(word);
    }
  });

  it('puts a note in the place of what does not fit, and goes on', () => {
    const reader = new BatchBufferReader(fillBatchBuffer([aHold(INT64_MIN, 1n), aHold(7n, 1n)]));
    expect([reader.number(), reader.text()]).toEqual([UNWRITABLE, expect.stringContaining('64 bits')]);
    expect([reader.number(), reader.word()]).toEqual([HOLD, 7n]);
  });
});
