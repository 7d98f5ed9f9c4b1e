import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../json/stringify.ts';
import { readOperatorJson } from './operator-json.ts';

const amountName = fc.constantFrom('balance_nanousd', 'held_nanousd', 'amount_nanousd');
const spec = fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.maxSafeInteger(), fc.constant('"x_nanousd":5,'));
const member = fc.oneof(
  fc.tuple(amountName, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n })),
  fc.tuple(fc.stringMatching(/^[a-z"]{1,8}$/), spec),
);
const row = fc.array(member, { maxLength: 6 }).map((members) => Object.fromEntries(members));

test('whatever a verb answers is read back as it was, amounts as exact integers', () => {
  fc.assert(
    fc.property(
      fc.record({ data: fc.array(row, { maxLength: 4 }), key: fc.option(row), text: fc.string() }),
      (answer) => {
        expect(readOperatorJson(stringifyJson(answer))).toEqual(answer);
      },
    ),
  );
});

test('an amount that is null stays null, and text that looks like one stays text', () => {
  const answer = { spend_cap_nanousd: null, note: '{"cost_nanousd":5}', reference: '7' };
  expect(readOperatorJson(stringifyJson(answer))).toEqual(answer);
});
