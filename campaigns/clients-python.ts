import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { installPythonPackages } from './clients/python-packages.ts';

/** Installs the Python packages that docs/clients/python.md names, and runs the code of that page with them. */

const ROOT = resolve(import.meta.dirname, '..');

installPythonPackages();
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/doc-python.test.ts'], {
  cwd: ROOT,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
