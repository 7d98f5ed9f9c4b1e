import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TestRunner } from 'vitest';
import { ROOT } from './tidy/paths.ts';

/** Only Vite reads JSX, and only it knows where the sources of our packages are. */
const NEEDS_VITE = /^(?:console|packages)\//;
/** At the beginning of a line, where formatted code has it. Node gives the same module to all who import it. */
const REPLACES_MODULES = /^\s*vi\.(?:mock|doMock|resetModules)\(/m;

/**
 * Lets Node load the tests and what they import, as it loads the product. Vite would transform them, so that each use of an
 * import reads a property: that took a quarter of the CPU time of the quick tests.
 */
export default class NativeRunner extends TestRunner {
  override importFile(...[path, source]: Parameters<TestRunner['importFile']>): unknown {
    // Node loads a file once, and Vitest has to load it again after each change if it watches.
    const isForNode = !this.config.watch && loadsInNode(relative(ROOT, path), readFileSync(path, 'utf8'));
    return isForNode ? import(pathToFileURL(path).href) : super.importFile(path, source);
  }
}

/** Whether Node can load this test, whose path is that from the root. */
export function loadsInNode(path: string, text: string): boolean {
  return !NEEDS_VITE.test(path) && !REPLACES_MODULES.test(text);
}
