import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const BIN = resolve(import.meta.dirname, '..', 'bin');

/** A copy of the launcher in a package of its own, so that the main it starts can be ours. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-bin-'));
  cpSync(BIN, join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterEach(() => rmSync(folder, { recursive: true }));

function addMain(path: string, says: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  const typed = path.endsWith('.ts') ? ': readonly string[]' : '';
  writeFileSync(
    join(folder, path),
    `export async function main(argv${typed}) { process.stdout.write('${says} ' + argv.join(',')); return 7; }`,
  );
}

/** A main that is told to reload while it is loaded, and says whether it knows that when it runs. */
function addReloadedMain(): void {
  mkdirSync(join(folder, 'dist/main'), { recursive: true });
  writeFileSync(
    join(folder, 'dist/main/main.js'),
    `import { once } from 'node:events';
    const isHandled = process.listenerCount('SIGHUP') > 0;
    const signalled = isHandled ? once(process, 'SIGHUP') : null;
    // A process that only waits for a signal ends.
    const waiting = setInterval(() => {}, 1_000);
    process.kill(process.pid, 'SIGHUP');
    export async function main(argv, hangups) {
      await signalled;
      clearInterval(waiting);
      process.stdout.write('reload ' + hangups.take());
      return 7;
    }`,
  );
}

function launch(args: readonly string[], version?: string): { code: number | null; out: string; err: string } {
  const disguise = `Object.defineProperty(process,'version',{value:'${version}'})`;
  const flags = version === undefined ? [] : ['--import', `data:text/javascript,${disguise}`];
  const run = spawnSync(process.execPath, [...flags, join(folder, 'bin', 'tollgate.js'), ...args], {
    encoding: 'utf8',
  });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

describe('a Node that is new enough', () => {
  test('runs the compiled form where there is one, and gives on arguments and exit code', () => {
    addMain('dist/main/main.js', 'compiled');
    addMain('src/main/main.ts', 'source');
    expect(launch(['keys', 'list'])).toMatchObject({ code: 7, out: 'compiled keys,list' });
  });

  test('runs the source as it is where nothing was compiled', () => {
    addMain('src/main/main.ts', 'source');
    expect(launch(['serve'])).toMatchObject({ code: 7, out: 'source serve' });
  });

  test.each(['v22.19.0', 'v23.0.0', 'v24.0.0', 'v26.10.0'])('%s is', (version) => {
    addMain('dist/main/main.js', 'compiled');
    expect(launch([], version).code).toBe(7);
  });
});

describe.skipIf(process.platform === 'win32')('SIGHUP while the code is loaded', () => {
  test.each([[[]], [['serve']], [['--port', '0']]])(
    'does not end a gateway, started with %j, which is told of it',
    (args) => {
      addReloadedMain();
      expect(launch(args)).toMatchObject({ code: 7, out: 'reload true' });
    },
  );

  test('ends any other command', () => {
    addReloadedMain();
    expect(launch(['keys', 'list'])).toMatchObject({ code: null, out: '' });
  });
});

describe('a Node that is too old', () => {
  test.each(['v20.20.2', 'v22.18.9', 'v18.0.0'])('%s gets one clear sentence and exit code 2', (version) => {
    addMain('dist/main/main.js', 'compiled');
    expect(launch(['serve'], version)).toEqual({
      code: 2,
      out: '',
      err: `Tollgate needs Node 22.19 or newer, this is ${version}; install a newer Node, or start a clone with \`npm start\`, which brings its own.\n`,
    });
  });

  test('can read the launcher also as a script of the time before modules', () => {
    const script = join(folder, 'tollgate.cjs');
    cpSync(join(BIN, 'tollgate.js'), script);
    execFileSync(process.execPath, ['--check', script]);
  });
});
