import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALL_MUTANTS } from '../campaigns/mutants/all.ts';

/** The campaign itself takes long, but whether it can still run is checked quickly. */

test.each(ALL_MUTANTS)('the fault of "$name" finds its place in the code as it is', ({ changes }) => {
  for (const { file, find } of changes) {
    const places = readFileSync(join(import.meta.dirname, '..', file), 'utf8').split(find).length - 1;
    expect([file, places]).toEqual([file, 1]);
  }
});
