import { expect, test } from 'vitest';
import type { Receipt, Refusal } from '../../api/generated/routes.ts';
import { LIVE_ROWS_MAX, mergeRows, newestOf, receiptRow, refusalRow } from './request-row.ts';

const receipts = (...ids: string[]) => ids.map((id) => receiptRow({ id } as Receipt));
const refusals = (...ids: string[]) => ids.map((id) => refusalRow({ id } as Refusal));
const idsOf = (rows: readonly { readonly id: string }[]): string => rows.map(({ id }) => id).join(' ');

test('mixes receipts and refusals by time, the newest first', () => {
  const lists = [
    { rows: receipts('r5', 'r2'), hasMore: false },
    { rows: refusals('r4', 'r1'), hasMore: false },
  ];
  expect(idsOf(mergeRows(...lists))).toBe('r5 r4 r2 r1');
});

test('shows nothing older than what a list has loaded so far', () => {
  const lists = [
    { rows: receipts('r9', 'r6'), hasMore: true },
    { rows: refusals('r7', 'r3'), hasMore: true },
  ];
  expect(idsOf(mergeRows(...lists))).toBe('r9 r7 r6');
});

test('has a call once, although it is in the feed and in the list', () => {
  expect(idsOf(mergeRows({ rows: receipts('r2', 'r2', 'r1'), hasMore: false }))).toBe('r2 r1');
});

test('keeps no more of the live tail than its limit, the newest first', () => {
  let kept: readonly number[] = [];
  for (let at = 0; at < 3 * LIVE_ROWS_MAX; at += 50)
    kept = newestOf(
      Array.from({ length: 50 }, (_, index) => at + 49 - index),
      kept,
    );
  expect(kept).toHaveLength(LIVE_ROWS_MAX);
  expect(kept[0]).toBe(3 * LIVE_ROWS_MAX - 1);
  expect(kept.at(-1)).toBe(2 * LIVE_ROWS_MAX);
});

test('makes the same row of the same receipt, so that it is not painted again', () => {
  const receipt = { id: 'r1' } as Receipt;
  expect(receiptRow(receipt)).toBe(receiptRow(receipt));
});
