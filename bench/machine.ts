import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';

interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly load1: number;
  readonly filesystem: string;
  /** Node's SQLite commits with fsync; fdatasync is what the disk can do at best. */
  readonly fsyncP50Ms: number;
  readonly fsyncP99Ms: number;
  readonly fdatasyncP50Ms: number;
  readonly node: string;
}

/** What the figures of a benchmark depend on. */
export function describeMachine(folder: string): Machine {
  const fsync = measureSync(folder, fsyncSync);
  const fdatasync = measureSync(folder, fdatasyncSync);
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    load1: Number(loadavg()[0]!.toFixed(2)),
    filesystem: filesystemOf(folder),
    fsyncP50Ms: fsync.p50,
    fsyncP99Ms: fsync.p99,
    fdatasyncP50Ms: fdatasync.p50,
    node: process.version,
  };
}

/** The averages of the last minute, five and fifteen. */
export function describeLoad(): string {
  return loadavg()
    .map((value) => value.toFixed(2))
    .join(' ');
}

/** The share of the cores that other guests of the same hardware took since this was made; null where the system does not say. */
export class StolenTime {
  readonly #start = cpuTicks();

  share(): number | null {
    const end = cpuTicks();
    if (this.#start === null || end === null) return null;
    const all = end.all - this.#start.all;
    return all === 0 ? 0 : (end.stolen - this.#start.stolen) / all;
  }
}

/** The first eight counters of the kernel's line for all cores; the eighth is time that the hypervisor gave to others. */
function cpuTicks(): { readonly all: number; readonly stolen: number } | null {
  if (process.platform !== 'linux') return null;
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!;
  const counters = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: counters.reduce((sum, ticks) => sum + ticks, 0), stolen: counters[7] ?? 0 };
}

export interface SyncTimes {
  readonly p50: number;
  readonly p99: number;
}

/** Milliseconds for each sync, after one more page was written, as a log grows. A disk that had a pause before may take longer. */
export function measureSync(folder: string, sync: (descriptor: number) => void, pauseMs = 0): SyncTimes {
  const file = join(folder, 'sync.probe');
  const descriptor = openSync(file, 'w');
  const page = Buffer.alloc(4096, 1);
  const sleeping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const times = Array.from({ length: 200 }, () => {
    if (pauseMs > 0) Atomics.wait(sleeping, 0, 0, pauseMs);
    writeSync(descriptor, page);
    const start = performance.now();
    sync(descriptor);
    return performance.now() - start;
  }).sort((a, b) => a - b);
  closeSync(descriptor);
  rmSync(file);
  return { p50: round(times[100]!), p99: round(times[198]!) };
}

/** The mount with the longest path that the folder lies under. */
function filesystemOf(folder: string): string {
  const path = realpathSync(folder);
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, point]) => point !== undefined && (point === '/' || path === point || path.startsWith(`${point}/`)))
    .sort(([, a], [, b]) => b!.length - a!.length);
  return mounts[0]?.[2] ?? 'unknown';
}

function round(ms: number): number {
  return Number(ms.toFixed(3));
}
