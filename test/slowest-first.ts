import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SLOWEST_FILES } from './slowest-files.ts';
import { ROOT } from './tidy/paths.ts';

/** Vitest would begin with the largest files, or with those that were slow the last time, which a fresh clone does not know. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => SLOWEST_FILES.indexOf(relative(ROOT, moduleId));
    const sorted = await super.sort(files);
    const listed = sorted.filter((file) => rank(file) !== -1).sort((a, b) => rank(a) - rank(b));
    return [...listed, ...sorted.filter((file) => rank(file) === -1)];
  }
}
