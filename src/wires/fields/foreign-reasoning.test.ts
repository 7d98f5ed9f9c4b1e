import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import { isWrappedForeign, unwrapForeign, wrapForeign } from './foreign-reasoning.ts';

const opaques: fc.Arbitrary<OpaqueReasoning> = fc
  .tuple(
    fc.string(),
    fc.constantFrom('signature', 'redacted', 'encrypted'),
    fc.string({ unit: anyCharacter }),
    fc.option(fc.string()),
  )
  .map(([vendor, form, data, id]) => (id === null ? { vendor, form, data } : { vendor, form, data, id }));

test('what was sealed opens as it was, byte for byte', () => {
  fc.assert(
    fc.property(opaques, (opaque) => {
      const wellFormed = { ...opaque, data: opaque.data.toWellFormed() };
      const sealed = wrapForeign(wellFormed);
      expect(isWrappedForeign(sealed)).toBe(true);
      expect(sealed).toMatch(/^[\w.-]+$/);
      expect(unwrapForeign(sealed)).toEqual(wellFormed);
    }),
  );
});

test('what is no seal of ours does not open', () => {
  const mark = wrapForeign({ vendor: 'v', form: 'signature', data: 'd' }).slice(0, -20);
  for (const text of ['', 'gAAAAABqhb', 'EqQBCkYIBBgCKkBv', mark, `${mark}!!`]) expect(unwrapForeign(text)).toBeNull();
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(unwrapForeign(text)).toBeNull();
    }),
  );
});
