import { expect, test } from 'vitest';
import { readUsageView } from './usage-query.ts';

const seconds = (text: string): number => Date.parse(`${text}Z`) / 1000;
const NOW = seconds('2026-11-17T12:34:56');
const custom = (from: string, to: string) => readUsageView({ range: 'custom', from, to }, [], NOW);

test('a period of chosen days includes the last one', () => {
  expect(custom('2026-11-01', '2026-11-10')).toMatchObject({
    ...{ since: seconds('2026-11-01T00:00:00'), until: seconds('2026-11-11T00:00:00'), isEmpty: false },
  });
});

test('a period ends today if the last day is in the future', () => {
  expect(custom('2026-11-01', '9999-12-31')).toMatchObject({ until: undefined, isEmpty: false });
});

test('a year that is still being typed counts as none', () => {
  expect(custom('0202-01-01', '0020-01-01')).toMatchObject({
    ...{ since: seconds('2026-10-19T00:00:00'), until: undefined, isEmpty: false },
  });
});

test.each([
  ['ends before it begins', '2026-11-10', '2026-11-01'],
  ['begins in the future', '2026-11-18', ''],
])('a period that %s has no days', (_, from, to) => {
  expect(custom(from, to).isEmpty).toBe(true);
});

test('a period of today alone has a day', () => {
  expect(custom('2026-11-17', '2026-11-17').isEmpty).toBe(false);
});
