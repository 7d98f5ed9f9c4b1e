import fc from 'fast-check';
import { anyCharacter } from './any-character.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const PLAIN = `${LETTERS}${LETTERS.toUpperCase()}0123456789-._~!$&'()*+,;=:@`;

/** A character as a URL has it: mostly as it is, sometimes percent-encoded. */
const unit = (plain: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...plain) },
    { weight: 1, arbitrary: anyCharacter.map(percentEncoded) },
  );

function percentEncoded(character: string): string {
  const encoded = encodeURIComponent(character);
  return encoded === character ? `%${character.charCodeAt(0).toString(16)}` : encoded;
}

const segments = (segment: fc.Size, path: fc.Size): fc.Arbitrary<string[]> =>
  fc.array(fc.string({ unit: unit(PLAIN), size: segment }), { size: path });

/** As `fc.webUrl`, without the map of all characters that the library makes for it (`any-character.ts` says more). */
export const anyUrl: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.webAuthority(),
    fc.oneof(segments('small', 'xsmall'), segments('xsmall', 'small')),
  )
  .map(([scheme, authority, path]) => `${scheme}://${authority}${path.map((segment) => `/${segment}`).join('')}`);

/** As `fc.webQueryParameters`, without that map. */
export const anyQuery: fc.Arbitrary<string> = fc.string({ unit: unit(`${PLAIN}/?`) });
