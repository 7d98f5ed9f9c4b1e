import { describe, expect, test } from 'vitest';
import { quickTestFiles } from './quick-files.ts';
import { SLOWEST_FILES } from './slowest-files.ts';

function quickAmong(texts: Record<string, string>): string[] {
  const tests = Object.keys(texts).filter((path) => path.endsWith('.test.ts'));
  return quickTestFiles(tests, (path) => texts[path] ?? null);
}

describe('a test file is quick', () => {
  test('if it imports product code only, whatever that could start', () => {
    const product = "import { spawn } from 'node:child_process';";
    expect(quickAmong({ 'src/a.test.ts': "import './a.ts';", 'src/a.ts': product })).toEqual(['src/a.test.ts']);
  });

  test('if its supporting files are quick', () => {
    const files = { 'test/a.test.ts': "import './b.ts';", 'test/b.ts': "import './c.ts';", 'test/c.ts': '' };
    expect(quickAmong(files)).toEqual(['test/a.test.ts']);
  });

  test('and is not, if it starts processes itself', () => {
    expect(quickAmong({ 'test/a.test.ts': "import { fork } from 'node:child_process';" })).toEqual([]);
    // In two parts, because this file would be taken for slow itself.
    expect(quickAmong({ 'test/a.test.ts': `await ${'import'}('node:child_process');` })).toEqual([]);
    const overLines = "import {\n  fork,\n  spawn,\n} from 'node:child_process';";
    expect(quickAmong({ 'test/a.test.ts': overLines })).toEqual([]);
    expect(quickAmong({ 'test/a.test.ts': "export * from 'node:child_process';" })).toEqual([]);
  });

  test('and is not, if it reaches the harness or PostgreSQL by way of others', () => {
    for (const slow of ['harness', 'postgres', 'postgres-server']) {
      const files = {
        'test/a.test.ts': "import './b.ts';",
        'test/b.ts': `import './${slow}.ts';`,
        [`test/${slow}.ts`]: '',
      };
      expect(quickAmong(files)).toEqual([]);
    }
  });

  test('and is not, if it runs a campaign that starts processes', () => {
    const files = {
      'test/a.test.ts': "import '../campaigns/kill.ts';",
      'campaigns/kill.ts': "import 'node:child_process';",
    };
    expect(quickAmong(files)).toEqual([]);
  });
});

test('the files of this repository are told apart', () => {
  const quick = quickTestFiles();
  expect(quick).toContain('src/gateway/exchange.test.ts');
  expect(quick).toContain('test/tidy.test.ts');
  expect(quick).not.toContain('test/routes.test.ts');
  expect(quick).not.toContain('test/kill.test.ts');
  expect(quick).not.toContain('test/store-postgres.test.ts');
  const quickAndSlow = SLOWEST_FILES.filter((path) => quick.includes(path));
  expect(SLOWEST_FILES.slice(-quickAndSlow.length), 'Name the quick ones last.').toEqual(quickAndSlow);
});
