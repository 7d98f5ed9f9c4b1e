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
