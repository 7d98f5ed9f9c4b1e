import { expect, test } from 'vitest';
import type { Receipt } from '../../api/generated/routes.ts';
import { joined, ListReloads, NO_CALLS, withGap, withLiveTail } from './live-tail.ts';
import { LIVE_ROWS_MAX, mergeRows, receiptRow } from './request-row.ts';

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

const numbered = (at: number) => ended(`r${String(at).padStart(5, '0')}`);
const arriving = (at: number) => ({ receipts: [numbered(at)], droppedId: null });

test('the tail keeps the newest calls, and knows the newest that it has dropped', () => {
  let kept = NO_CALLS;
  for (let at = 0; at < LIVE_ROWS_MAX; at++) kept = joined(arriving(at), kept);
  expect(kept.droppedId).toBeNull();
  for (let at = LIVE_ROWS_MAX; at < 3 * LIVE_ROWS_MAX; at++) kept = joined(arriving(at), kept);
  expect(kept.receipts).toHaveLength(LIVE_ROWS_MAX);
  expect(kept.receipts[0]).toEqual(numbered(3 * LIVE_ROWS_MAX - 1));
  expect(kept.droppedId).toBe(numbered(2 * LIVE_ROWS_MAX - 1).id);
});

test('after a gap the tail is complete only from then on', () => {
  const before = withGap(joined(arriving(7), joined(arriving(9), NO_CALLS)));
  expect(before.droppedId).toBe(numbered(9).id);
  expect(joined(arriving(10), before).droppedId).toBe(numbered(9).id);
});

test('a list is read again if more calls have ended than the tail keeps, but not while it is read nor soon after', () => {
  const reloads = new ListReloads();
  for (let calls = 0; calls < LIVE_ROWS_MAX; calls++) reloads.arrived();
  expect(reloads.takeDue(0, false, 1)).toBe(false);
  reloads.arrived();
  expect(reloads.takeDue(0, true, 1)).toBe(false);
  expect(reloads.takeDue(60_000, true, 1)).toBe(false);
  expect(reloads.takeDue(64_999, false, 1)).toBe(false);
  expect(reloads.takeDue(65_000, false, 1)).toBe(true);
  expect(reloads.takeDue(600_000, false, 1)).toBe(false);
});

test('a list of several pages is read again more rarely', () => {
  const reloads = new ListReloads();
  reloads.missed();
  expect(reloads.takeDue(0, false, 4)).toBe(true);
  reloads.missed();
  expect(reloads.takeDue(19_999, false, 4)).toBe(false);
  expect(reloads.takeDue(20_000, false, 4)).toBe(true);
});

test('a list is read again if the feed has left out calls', () => {
  const reloads = new ListReloads();
  reloads.missed();
  expect(reloads.takeDue(0, false, 1)).toBe(true);
});
