import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ROOT } from './tidy/paths.ts';

/**
 * Begun at the end, one of these would keep a core waiting for the other. The quick ones come last, because a process that
 * runs tests is replaced when the next file belongs to the other project.
 */
export const SLOWEST_FILES: readonly string[] = [
  ...[
    'misfortune',
    'jobs-kill',
    'replicas-kill',
    'archive',
    'store-postgres',
    'store-model',
    'usage-report',
    'cli-examples',
    'stream-pace',
    'kill',
    'corpus-chat',
    'package',
    'hostile-requests',
    'jobs-postgres',
    'replicas',
    'alert-replicas',
    'store-copy',
    'account-close-kill',
    'month-trees',
    'cli-server',
    'postgres-older-gateway',
    'site',
    'store',
    'deploy',
    'socket-flood',
  ].map((name) => `test/${name}.test.ts`),
  'src/wires/frames/frame-memory.property.test.ts',
  'src/json/json.property.test.ts',
  'test/store-loss.test.ts',
  'test/tidy.test.ts',
];

/** Vitest would begin with the largest files, or with those that were slow the last time, which a fresh clone does not know. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => SLOWEST_FILES.indexOf(relative(ROOT, moduleId));
    const sorted = await super.sort(files);
    const listed = sorted.filter((file) => rank(file) !== -1).sort((a, b) => rank(a) - rank(b));
    return [...listed, ...sorted.filter((file) => rank(file) === -1)];
  }
}
