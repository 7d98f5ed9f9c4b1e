import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { aCredit, aHold, aSettle } from '../../../test/store-fixtures.ts';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { INT64_MAX, INT64_MIN } from '../int64.ts';
import {
  BatchBufferReader,
  CREDIT,
  fillBatchBuffer,
  HOLD,
  readCredit,
  readHold,
  readSettle,
  readSettlement,
  SETTLE,
  UNWRITABLE,
} from './batch-buffer.ts';

const anyInt64 = fc.bigInt(INT64_MIN + 1n, INT64_MAX);

function nextCredit(buffer: BatchBufferReader) {
  expect(buffer.integer()).toBe(CREDIT);
  return readCredit(buffer);
}

describe('the batch buffer', () => {
  it('returns every word and text as it was written', () => {
    const anyCredit = fc.record({
      id: anyInt64,
      accountId: anyInt64,
      amount: anyInt64,
      reference: fc.string({ unit: anyCharacter }),
      note: fc.option(fc.constantFrom('', 'a', 'b')),
      createdMs: fc.maxSafeInteger(),
      callId: fc.option(anyInt64),
    });
    fc.assert(
      fc.property(fc.array(anyCredit), (credits) => {
        const buffer = fillBatchBuffer(credits.map(({ id, amount, ...rest }) => aCredit(id, amount, rest)));
        const reader = new BatchBufferReader(structuredClone(buffer));
        expect(reader.operations).toBe(credits.length);
        for (const { amount, ...rest } of credits) {
          const clampedAmount = amount === INT64_MIN ? INT64_MIN + 1n : amount;
          const amountNanousd = clampedAmount;
          expect(nextCredit(reader)).toEqual({ ...rest, amountNanousd });
        }
      }),
    );
  });

  it('clamps amounts beyond 64 bits to the bound, which compares the same way', () => {
    for (const [amount, word] of [
      [2n ** 80n, INT64_MAX],
      [-(2n ** 80n), -INT64_MAX],
    ] as const) {
      const reader = new BatchBufferReader(fillBatchBuffer([aCredit(1n, amount)]));
      expect(nextCredit(reader).amountNanousd).toBe(word);
    }
  });

  it('replaces an operation that does not fit by the reason, and continues', () => {
    const reader = new BatchBufferReader(fillBatchBuffer([aHold(INT64_MIN, 1n), aHold(7n, 1n)]));
    expect([reader.integer(), reader.text()]).toEqual([UNWRITABLE, expect.stringContaining('64 bits')]);
    expect([reader.integer(), readHold(reader).id]).toEqual([HOLD, 7n]);
  });

  it('returns the fields of a hold, and null for one that was left out', () => {
    const { labels: _, ...unlabelled } = aHold(7n, 5n, { keyId: 3n, stream: true });
    const reader = new BatchBufferReader(fillBatchBuffer([unlabelled, aHold(8n, 6n, { labels: { user: 'u' } })]));
    const { kind, idempotency, ...fields } = unlabelled;
    expect([reader.integer(), readHold(reader)]).toMatchObject([HOLD, { ...fields, stream: 1, labels: null }]);
    expect([reader.integer(), readHold(reader)]).toMatchObject([HOLD, { id: 8n, labels: '{"user":"u"}' }]);
  });

  it('returns a settlement with and without usage and components', () => {
    const usage = { ...ZERO_USAGE, freshTokens: 1, reasoningTokens: 6 };
    const components = { freshNanousd: 1n, cacheWriteNanousd: 2n, cacheReadNanousd: 3n, outputNanousd: 4n };
    const buffer = fillBatchBuffer([aSettle(7n, 10n, { usage, components }), aSettle(8n, 0n)]);
    const reader = new BatchBufferReader(buffer);
    expect([reader.integer(), readSettle(reader).id, readSettlement(reader)]).toMatchObject([
      SETTLE,
      7n,
      { costNanousd: 10n, usage: [1, 0, 0, 0, 0, 6], components: [1n, 2n, 3n, 4n], attempts: 1, tries: null },
    ]);
    expect([reader.integer(), readSettle(reader).id, readSettlement(reader)]).toMatchObject([
      SETTLE,
      8n,
      { costNanousd: 0n, usage: null, components: null, host: 'host-a', lossReason: null },
    ]);
  });
});
