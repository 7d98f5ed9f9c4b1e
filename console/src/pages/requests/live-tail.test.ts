import { expect, test } from 'vitest';
import type { Receipt } from '../../api/generated/routes.ts';
import { withLiveTail } from './live-tail.ts';
import { mergeRows, receiptRow } from './request-row.ts';

const ALL = { outcome: 'any', model: undefined, host: undefined, chain: undefined } as const;
const call = (id: string, members: Partial<Receipt>) =>
  ({ ...{ id, requested_model: 'auto', effective_model: 'large', chain: null }, ...members }) as Receipt;
const running = (id: string) => call(id, { status: 'open', ended: null, cost_nanousd: null });
const ended = (id: string) => call(id, { status: 'settled', ended: 'complete', cost_nanousd: 7n });

test('a call that was running when the list was read is shown as it ended', () => {
  const rows = withLiveTail([running('r3'), running('r2'), ended('r1')], [ended('r2')], ALL).map(receiptRow);
  const shown = mergeRows({ rows, hasMore: false }).map((row) => row.kind === 'receipt' && row.receipt.status);
  expect(shown).toEqual(['open', 'settled', 'settled']);
});

test('a call that has ended leaves the list of running calls', () => {
  const rows = withLiveTail([running('r2'), running('r1')], [ended('r1')], { ...ALL, outcome: 'open' });
  expect(rows.map(({ id }) => id)).toEqual(['r2']);
});

test('a receipt that was read again is preferred to the one of the feed, because it has the refunds', () => {
  const refunded = { ...ended('r1'), refunded_nanousd: 7n };
  const rows = withLiveTail([refunded], [ended('r1')], ALL).map(receiptRow);
  expect(mergeRows({ rows, hasMore: false })).toEqual([receiptRow(refunded)]);
});

test.each(['auto', 'large'])(
  'a call is found by the model that was asked for and by the one that answered: %s',
  (model) => {
    expect(withLiveTail([], [ended('r1')], { ...ALL, model })).toHaveLength(1);
  },
);

test('a call of another model, or of no chain, does not appear', () => {
  expect(withLiveTail([], [ended('r1')], { ...ALL, model: 'small' })).toEqual([]);
  expect(withLiveTail([], [ended('r1')], { ...ALL, chain: 'order-17' })).toEqual([]);
});
