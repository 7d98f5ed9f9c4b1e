import { expect, test } from 'vitest';
import { formatRecord, formatTable } from './table.ts';

test('columns line up, amounts by their right end, in any script', () => {
  const columns = [
    { title: 'NAME', text: (row: [string, string]) => row[0] },
    { title: 'COST', align: 'right' as const, text: (row: [string, string]) => row[1] },
    { title: 'X', text: () => '' },
  ];
  expect(
    formatTable(columns, [
      ['ada', '$5.25'],
      ['日本𝄞', '$10.00'],
      ['e\u0301e', '$1.00'],
    ]),
  ).toBe(['NAME     COST  X', 'ada     $5.25', '日本𝄞  $10.00', 'e\u0301e      $1.00', ''].join('\n'));
});

test('a record has its names in one column', () => {
  expect(
    formatRecord([
      ['id', 'x'],
      ['balance', '$1.00'],
    ]),
  ).toBe('id       x\nbalance  $1.00\n');
});

test.each([
  ['\u001b]52;c;eA==\u0007', '\\u001b]52;c;eA==\\u0007'],
  ['\u009b2Jx', '\\u009b2Jx'],
  ['one\r\ntwo', 'one\\u000d\\u000atwo'],
  ['a\u202eb\u2028', 'a\\u202eb\\u2028'],
])('what a caller wrote cannot control the terminal: %j', (text, shown) => {
  const column = { title: 'LABEL', text: (row: string) => row };
  expect(formatTable([column], [text])).toBe(`LABEL\n${shown}\n`);
  expect(formatRecord([['label', text]])).toBe(`label  ${shown}\n`);
});
