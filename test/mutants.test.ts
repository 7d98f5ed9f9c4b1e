import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALL_MUTANTS } from '../campaigns/mutants/all.ts';

/** The campaign itself takes long; that it could still be run is known at once. */

test.each(ALL_MUTANTS)('the fault of "$name" finds its place in the code as it is', ({ changes }) => {
  for (const { file, find } of changes) {
    const places = readFileSync(join(import.meta.dirname, '..', file), 'utf8').split(find).length - 1;
    expect([file, places]).toEqual([file, 1]);
  }
});
