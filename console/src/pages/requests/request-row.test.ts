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

test('shows rows of the live tail that are older than a list that was just read again', () => {
  const rows = receipts('r9', 'r8', 'r7', 'r6', 'r4', 'r9', 'r8');
  const list = { rows, hasMore: true, completeAfter: 'r5' };
  expect(idsOf(mergeRows(list, { rows: refusals('r3'), hasMore: false }))).toBe('r9 r8 r7 r6');
  expect(idsOf(mergeRows({ ...list, completeAfter: null }))).toBe('r9 r8');
});

test('makes the same row of the same receipt, so that it is not painted again', () => {
  const receipt = { id: 'r1' } as Receipt;
  expect(receiptRow(receipt)).toBe(receiptRow(receipt));
});
