import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Begun at the end, one of these would keep a core waiting for the other. */
export const SLOWEST_FILES: readonly string[] = [
  'misfortune.test.ts',
  'kill.test.ts',
  'replicas-kill.test.ts',
  'cli-examples.test.ts',
  'cli-server.test.ts',
  'store.test.ts',
  'store-postgres.test.ts',
  'store-model.test.ts',
  'corpus-chat.test.ts',
  'json.property.test.ts',
  'stream-pace.test.ts',
  'deploy.test.ts',
  'replicas.test.ts',
  'socket-flood.test.ts',
];

/** Vitest would begin with the largest files, or with those that were slow the last time, which a fresh clone does not know. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => SLOWEST_FILES.indexOf(basename(moduleId));
    const sorted = await super.sort(files);
    const listed = sorted.filter((file) => rank(file) !== -1).sort((a, b) => rank(a) - rank(b));
    return [...listed, ...sorted.filter((file) => rank(file) === -1)];
  }
}
