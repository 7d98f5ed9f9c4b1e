import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How much longer every fsync and fdatasync takes. */
export const SLOWER_MICROS = 1_000;

/** Runs a program of this folder on a disk whose syncs take longer, or says why it cannot; fails if the program fails. */
export async function onSlowDisk(file: string, args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-slow-'));
  try {
    const shim = compileShim(folder);
    if (shim === null) return;
    const env = { ...process.env, LD_PRELOAD: shim, SLOW_FSYNC_MICROS: String(SLOWER_MICROS) };
    const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args], { env, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function compileShim(folder: string): string | null {
  const shim = join(folder, 'slow-fsync.so');
  const source = join(import.meta.dirname, 'slow-fsync.c');
  const { status, error, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', shim, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (status === 0) return shim;
  const why = error === undefined ? stderr.trim() : 'there is no C compiler named cc';
  process.stdout.write(`SQLite on a slower disk was not measured: ${why}\n`);
  return null;
}
