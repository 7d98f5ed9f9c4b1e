import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FolderLock, findHolder, type Holder, lockFolder } from './lock.ts';

const ME: Holder = { pid: process.pid, url: 'http://127.0.0.1:8080', socketPath: '/run/x.sock', startedMs: 5 };

/** A process that takes the lock, drops its reference to it, reports that, and runs until it is killed. */
const HOLD_FOREVER = `
  const { lockFolder } = await import(process.argv[1]);
  const take = () => lockFolder(process.argv[2], { pid: process.pid, url: 'http://other', socketPath: null, startedMs: 7 });
  const said = 'release' in take() ? 'locked' : 'refused';
  for (let turn = 0; turn < 3; turn++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(said);
  process.stdin.resume();`;

describe('lockFolder', () => {
  let root: string;
  let folder: string;
  const children: ChildProcess[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tollgate-lock-'));
    folder = join(root, 'data');
  });

  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
    rmSync(root, { recursive: true });
  });

  async function otherProcess(): Promise<{ child: ChildProcess; said: string }> {
    const lockFile = new URL('./lock.ts', import.meta.url).href;
    const child = spawn(
      process.execPath,
      ['--expose-gc', '--input-type=module', '-e', HOLD_FOREVER, lockFile, folder],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    children.push(child);
    const [line] = await once(child.stdout!, 'data');
    return { child, said: String(line).trim() };
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  function taken(): FolderLock {
    const lock = lockFolder(folder, ME);
    if (!('release' in lock)) throw new Error('The lock was not free.');
    return lock;
  }

  it('can be asked for without taking it or creating anything', () => {
    expect(findHolder(folder)).toBeNull();
    expect(readdirSync(root)).toEqual([]);
    const lock = lockFolder(folder, ME) as FolderLock;
    expect(findHolder(folder)).toEqual(ME);
    lock.release();
    expect(findHolder(folder)).toBeNull();
    (lockFolder(folder, ME) as FolderLock).release();
  });

  it('gives the lock to one caller, and tells the second who holds it', () => {
    const lock = taken();
    expect(lockFolder(folder, { ...ME, pid: 1 })).toEqual({ heldBy: ME });
    lock.release();
    taken().release();
  });

  it('keeps another process out, which changes nothing', async () => {
    const lock = taken();
    const before = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    expect((await otherProcess()).said).toBe('refused');
    expect(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs])).toEqual(before);
    lock.release();
  });

  it('stays held when its own process asks for it again', async () => {
    const lock = taken();
    expect(lockFolder(folder, ME)).toEqual({ heldBy: ME });
    expect((await otherProcess()).said).toBe('refused');
    lock.release();
  });

  it('ends with its process, even if that is killed', async () => {
    const { child, said } = await otherProcess();
    expect(said).toBe('locked');
    expect(lockFolder(folder, ME)).toMatchObject({ heldBy: { pid: child.pid, url: 'http://other' } });
    await kill(child);
    const lock = taken();
    expect(lockFolder(folder, { ...ME, pid: 1 })).toEqual({ heldBy: ME });
    lock.release();
  });

  it('reports no holder after it was released', () => {
    taken().release();
    expect(readdirSync(folder)).toEqual(['lock.sqlite']);
  });

  it('creates folder and files readable by the owner only', () => {
    const lock = taken();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    lock.release();
  });

  it('reports that it is held even if the holder is unknown', () => {
    const lock = taken();
    rmSync(join(folder, 'holder.json'));
    expect(lockFolder(folder, ME)).toEqual({ heldBy: null });
    lock.release();
  });
});
