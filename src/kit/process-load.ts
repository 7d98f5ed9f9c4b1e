import { totalmem } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** How often the event loop is asked to be on time; finer would cost an idle process wake-ups. */
const RESOLUTION_MS = 20;
const NANOSECONDS_PER_MS = 1e6;

/** How late the event loop of this process runs. */
export class EventLoopWatch {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delays.enable();
  }

  /** By how much it was late, on the mean, since this was last asked. */
  lagMs(): number {
    const meanMs = this.#delays.mean / NANOSECONDS_PER_MS;
    this.#delays.reset();
    return Number.isNaN(meanMs) ? 0 : Math.max(0, meanMs - RESOLUTION_MS);
  }

  stop(): void {
    this.#delays.disable();
  }
}

/** What is used of the memory that V8 may use for objects, from 0 to 1. */
export function heapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / limit;
}

/** All memory of this process, buffers too. */
export function residentBytes(): number {
  return process.memoryUsage.rss();
}

/** What the machine, or the container this runs in, has. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  const total = totalmem();
  return constrained > 0 && constrained < total ? constrained : total;
}
