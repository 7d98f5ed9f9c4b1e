import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('V8 knows every flag that it is tuned with', () => {
  const heap = JSON.stringify(join(import.meta.dirname, 'heap.ts'));
  const { status, stderr } = spawnSync(process.execPath, ['-e', `import(${heap}).then(({ tuneHeap }) => tuneHeap())`], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
