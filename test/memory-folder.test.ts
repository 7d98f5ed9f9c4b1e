import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from './until.ts';

let place: string;
let child: ChildProcess | null;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'tollgate-place-'));
  child = null;
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(place, { recursive: true });
});

interface Said {
  readonly temporary: string;
  readonly disk: string;
}

/** A process that keeps its files there, then says where they go, and ends when its input does. */
async function start(where: string, freeBytesMin: number, env: Record<string, string> = {}): Promise<Said> {
  const sources = JSON.stringify(join(import.meta.dirname, 'memory-folder.ts'));
  const disk = JSON.stringify(join(import.meta.dirname, '../campaigns/disk-folder.ts'));
  const program = `
    import { rmdirSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    import { dirname } from 'node:path';
    import { diskFolder } from ${disk};
    import { keepFilesInMemory } from ${sources};
    keepFilesInMemory(${JSON.stringify(where)}, ${freeBytesMin});
    const disk = diskFolder('tollgate-place-');
    rmdirSync(disk);
    console.log(JSON.stringify({ temporary: tmpdir(), disk: dirname(disk) }));
    process.stdin.resume();`;
  child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout! }), 'line');
  return JSON.parse(line);
}

describe('files of tests', () => {
  test('are kept in a folder in memory, except for those that have to be on a disk', async () => {
    const { temporary, disk } = await start(place, 1);
    expect(readdirSync(place).map((name) => join(place, name))).toEqual([temporary]);
    expect(disk).toBe('/tmp');
  });

  test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)('are gone after %s', async (signal) => {
    const { temporary } = await start(place, 1);
    writeFileSync(join(temporary, 'file'), 'left behind');
    child!.kill(signal);
    await until(() => !existsSync(temporary), 'the folder is removed');
  });

  test('are gone after the process has ended by itself', async () => {
    const { temporary } = await start(place, 1);
    child!.stdin!.end();
    await once(child!, 'exit');
    await until(() => !existsSync(temporary), 'the folder is removed');
  });

  test.each([
    ['there is no such place', '/nowhere', 1],
    ['nobody may write there', '/proc', 0],
    ['there is too little room', null, Number.MAX_SAFE_INTEGER],
  ] as const)('stay on the disk if %s', async (_, where, freeBytesMin) => {
    expect(await start(where ?? place, freeBytesMin)).toEqual({ temporary: '/tmp', disk: '/tmp' });
    expect(readdirSync(place)).toEqual([]);
  });

  test('stay where somebody said', async () => {
    expect(await start(place, 1, { TMPDIR: '/var/tmp' })).toEqual({ temporary: '/var/tmp', disk: '/var/tmp' });
    expect(readdirSync(place)).toEqual([]);
  });
});
