import { totalmem } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** How often the delay is sampled; more often would wake an idle process too much. */
const RESOLUTION_MS = 20;
const NANOSECONDS_PER_MS = 1e6;

/** How late the event loop of this process runs. */
export class EventLoopWatch {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delays.enable();
  }

  /**
   * The longest delay since the last call, which is how long a request that arrived then has waited for its turn. A mean
   * would hide it behind the many short turns.
   */
  lagMs(): number {
    const { count, max } = this.#delays;
    if (count === 0) return 0;
    this.#delays.reset();
    return Math.max(0, max / NANOSECONDS_PER_MS - RESOLUTION_MS);
  }

  stop(): void {
    this.#delays.disable();
  }
}

/** The used share of V8's heap limit, from 0 to 1. */
export function heapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / limit;
}

let lastResidentBytes = 0;

/** All memory of this process, including buffers. Reading it opens a file: without a free descriptor it is the last value. */
export function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss();
  } catch {
    // The next look reads it again.
  }
  return lastResidentBytes;
}

/** The memory of the machine, or of the container if that is less. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  const total = totalmem();
  return constrained > 0 && constrained < total ? constrained : total;
}
