import { expect, test } from 'vitest';
import { placeInMonths } from './month-tree.ts';
import type { FormRow } from './receipt-form.ts';

/** A call that was created at that time, as far as months depend on it. */
function call(id: bigint, createdMs: number): FormRow {
  return [id, 1n, BigInt(createdMs)] as unknown as FormRow;
}

const NOVEMBER_MS = Date.UTC(2026, 10, 1);
const NOW_MS = Date.UTC(2026, 10, 18);
const AHEAD_MS = Date.UTC(2027, 5, 1);

test('a call from the future is in the month of the call before it, and so are later ones', () => {
  const rows = [call(1n, NOVEMBER_MS + 5), call(2n, AHEAD_MS), call(3n, NOW_MS - 1)];
  const { months } = placeInMonths(rows, null, NOW_MS);
  expect(months).toEqual([{ month_ms: BigInt(NOVEMBER_MS), up_to: 3n, latest_ms: BigInt(NOW_MS - 1) }]);
});

test('if the first call of all is from the future, it is in the month in which it is closed', () => {
  const { months } = placeInMonths([call(1n, AHEAD_MS)], null, NOW_MS);
  expect(months).toEqual([{ month_ms: BigInt(NOVEMBER_MS), up_to: 1n, latest_ms: BigInt(NOW_MS) }]);
});
