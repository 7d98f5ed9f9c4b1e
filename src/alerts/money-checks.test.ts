import { expect, test } from 'vitest';
import { aKey } from '../../test/store-fixtures.ts';
import { checkKeyCap } from './money-checks.ts';

test('large amounts are written with separators', () => {
  const unset = { note: null, maxCostNanousd: null, usedMs: null, replaced: null, personDisabledMs: null };
  const state = { ...unset, ownerTerms: {}, revokedMs: null, disabledMs: null, version: 1n };
  const key = { ...aKey(7n, 1n, { capNanousd: 4_200_000_000_000_000n }), ...state };
  const spending = { spentNanousd: 4_000_000_000_000_000n, heldNanousd: 0n, reservedNanousd: 0n, resetsMs: null };
  const { findings } = checkKeyCap(key, spending, 80, false);
  expect(findings.map(({ message }) => message)).toEqual([
    expect.stringContaining('has spent $4,000,000.00 of the cap of $4,200,000.00, more than 80 %.'),
  ]);
});
