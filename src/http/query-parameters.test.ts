import { expect, test } from 'vitest';
import { readQuery, readText, readTime } from './query-parameters.ts';

test.each([
  ['since=1&zzz=2', ['since', 'until'], '`zzz` is unknown. Use since, until.'],
  ['zzz=2', [], '`zzz` is unknown. This route takes no parameters.'],
  ['%0A=2', ['since'], 'A query parameter is unknown. Use since.'],
  ['since=1&since=2', ['since'], '`since` must be sent once.'],
])('refuses the query %j of a route with the parameters %j', (query, parameters, message) => {
  expect(() => readQuery(query, parameters)).toThrow(message);
});

test('leaves out the version that the client for Azure adds to every request', () => {
  expect([...readQuery('api-version=2024-10-21&signed=true', ['signed'])]).toEqual([['signed', 'true']]);
});

test.each([
  ['1801396800', 1_801_396_800_000],
  ['2027-01-31', Date.UTC(2027, 0, 31)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
  ['2027-01-31T12:00:00Z', Date.UTC(2027, 0, 31, 12)],
  ['2027-01-31T12:00:00 02:00', Date.UTC(2027, 0, 31, 10)],
])('reads the time %j', (text, ms) => {
  expect(readTime(new Map([['since', text]]), 'since')).toBe(ms);
});

test.each(['', 'now', '2027-02-31', '2027-02-29T12:00:00Z', '2027-13-01', '2027-01-31T25:00:00Z', '-1', '1.5'])(
  'refuses the time %j',
  (text) => {
    expect(() => readTime(new Map([['since', text]]), 'since')).toThrow('`since` must be a time in Unix seconds');
  },
);

test.each([
  ['', 'must have 1 to 9 characters'],
  ['0123456789', 'must have 1 to 9 characters'],
  ['a\0b', 'must not contain a NUL character'],
])('refuses the text %j', (text, message) => {
  expect(() => readText(new Map([['model', text]]), 'model', 9)).toThrow(`\`model\` ${message}.`);
});
