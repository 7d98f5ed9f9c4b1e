import { expect, test } from 'vitest';
import type { Key } from '../../api/generated/routes.ts';
import { CAP_FAULT } from '../../parts/money-format.ts';
import { changesOf, draftOf, EMPTY_DRAFT, faultsOf } from './key-draft.ts';

/** The first second of the year 10000, and one after the end of the calendar. */
test.each([253_402_300_800, 9_000_000_000_000])(
  'a key that expires at %d can be changed, and keeps that',
  (expires) => {
    const key = {
      name: 'a',
      spend_cap_nanousd: null,
      window: 'lifetime',
      max_cost_nanousd: null,
      models: null,
      note: null,
    };
    const before = draftOf({ ...key, expires_at: expires } as Key);
    const after = { ...before, name: 'b' };
    expect(before.expires).toBe('9999-12-31');
    expect(faultsOf(after)).toEqual({});
    expect(changesOf(before, after)).toEqual({ name: 'b' });
  },
);

test('a cap or a ceiling of 0 is named beside its field, and not refused in the words of the API', () => {
  const faults = faultsOf({ ...EMPTY_DRAFT, name: 'a', cap: '0', maxCost: '0.00' });
  expect(faults).toEqual({ cap: CAP_FAULT, maxCost: CAP_FAULT });
});
