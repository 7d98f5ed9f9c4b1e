import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { diskTemporary } from '../disk-folder.ts';

/** What docs/clients/python.md is about; each page block is run with these. */
export const PYTHON_PACKAGES: Readonly<Record<string, string>> = { openai: '3.49.0', anthropic: '2.8.0' };

const FOLDER = join(diskTemporary(), 'tollgate-clients', 'python');
export const INSTALLED_PYTHON = join(FOLDER, 'bin', 'python');

/** The Python that has the packages: the one that `npm run clients:python` installed, or the machine's own; null if neither has them. */
export function pythonWithPackages(): string | null {
  return [INSTALLED_PYTHON, 'python3'].find(hasPackages) ?? null;
}

function hasPackages(python: string): boolean {
  const program = Object.entries(PYTHON_PACKAGES)
    .map(([name, version]) => `assert importlib.metadata.version("${name}") == "${version}"`)
    .join('\n');
  try {
    execFileSync(python, ['-c', `import importlib.metadata\n${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function installPythonPackages(): void {
  if (existsSync(INSTALLED_PYTHON) && hasPackages(INSTALLED_PYTHON)) return;
  mkdirSync(join(FOLDER, '..'), { recursive: true, mode: 0o700 });
  execFileSync('python3', ['-m', 'venv', '--clear', FOLDER], { stdio: 'inherit' });
  const wanted = Object.entries(PYTHON_PACKAGES).map(([name, version]) => `${name}==${version}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted];
  execFileSync(INSTALLED_PYTHON, pip, { stdio: 'inherit' });
}
