import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any character, as the unit of `fc.string`. The library's own unit 'binary' has the same characters, but keeps a map of all
 * 1.1 million of them: a second and 190 MB in each process, which every garbage collection of later tests walks through.
 */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - SURROGATES.count }).map(
  (at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count),
  (character) => {
    if (typeof character !== 'string' || [...character].length !== 1 || !character.isWellFormed())
      throw new Error('This is not a single character.');
    const code = character.codePointAt(0)!;
    return code < SURROGATES.first ? code : code - SURROGATES.count;
  },
);
