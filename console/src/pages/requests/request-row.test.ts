import { expect, test } from 'vitest';
import type { Receipt, Refusal } from '../../api/generated/routes.ts';
import { mergeRows, receiptRow, refusalRow } from './request-row.ts';

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
