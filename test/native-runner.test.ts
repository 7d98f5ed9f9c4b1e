import { expect, test } from 'vitest';
import { expectSame } from './expect-same.ts';
import { loadsInNode } from './native-runner.ts';

test('a test and what it imports are loaded by Node, so that an import is called by its name', () => {
  expect(String(expectSame)).toContain('(!isDeepStrictEqual(');
});

test.each([
  ['a test of the console, which may import JSX', 'console/src/time/days.test.ts', ''],
  ['a test of a package, which imports another one by its name', 'packages/ai-sdk/test/provider.test.ts', ''],
  ['a test that replaces a module', 'src/kit/one.test.ts', "vi.mock('node:tty', () => ({}));"],
  ['a test that loads a module again', 'test/one.test.ts', '  vi.resetModules();'],
])('%s is loaded by Vite', (_, path, text) => {
  expect(loadsInNode(path, text)).toBe(false);
  expect(loadsInNode('test/one.test.ts', "vi.spyOn(process, 'kill');")).toBe(true);
});
