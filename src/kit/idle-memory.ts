import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, systemClock, type Timer } from './clock.ts';

/** How often a thread checks whether it is idle. */
const LOOK_MS = 1_000;
/** For how many checks it must be idle until it gives memory back: V8 then drops compiled code as well, which the next calls would need. */
const IDLE_LOOKS = 30;
/** What a busy check takes off that number, so that a request now and then does not keep all memory. */
const BUSY_LOOK_COST = 5;
/** A young thread has the memory of its start to give back, and little code that calls would need. */
const YOUNG_MS = 10_000;
const YOUNG_IDLE_LOOKS = 2;
/** A thread that is busy for less than this part of the time is idle. */
const IDLE_LOAD = 0.05;
/** Less is not worth a pause. */
const GROWTH_BYTES_MIN = 8 * 1024 * 1024;
/** Between two pauses of a thread that is idle now and then. */
const PAUSES_APART_MS = 300_000;

/**
 * Gives memory back to the system when this thread is idle: what a start or a busy hour has left behind. V8 collects garbage
 * only if something allocates, and keeps room for as many young objects as it once needed.
 */
export class IdleMemory {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #giveBack: () => boolean;
  readonly #heapBytes: () => number;
  readonly #openedMs: number;
  #idleLooks = 0;
  #bytesKept = 0;
  #pausedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonicMs'> = systemClock, giveBack = giveBackMemory, heapBytes = ownHeapBytes) {
    this.#clock = clock;
    this.#giveBack = giveBack;
    this.#heapBytes = heapBytes;
    this.#openedMs = clock.monotonicMs();
  }

  /** Call it at regular times. */
  look(isIdle: boolean): void {
    this.#idleLooks = isIdle
      ? Math.min(IDLE_LOOKS, this.#idleLooks + 1)
      : Math.max(0, this.#idleLooks - BUSY_LOOK_COST);
    if (!isIdle) return;
    const nowMs = this.#clock.monotonicMs();
    const looksMin = nowMs - this.#openedMs < YOUNG_MS ? YOUNG_IDLE_LOOKS : IDLE_LOOKS;
    if (this.#idleLooks < looksMin || nowMs - this.#pausedMs < PAUSES_APART_MS) return;
    if (this.#heapBytes() - this.#bytesKept < GROWTH_BYTES_MIN) return;
    if (!this.#giveBack()) return;
    this.#bytesKept = this.#heapBytes();
    this.#pausedMs = nowMs;
    this.#idleLooks = 0;
  }
}

/** Between two collections of a thread that is short of memory. */
const RELIEFS_APART_MS = 30_000;

/** Gives memory back whether or not this thread is idle: for when calls are refused because memory is short. */
export class MemoryRelief {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #giveBack: () => boolean;
  #relievedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonicMs'>, giveBack = giveBackMemory) {
    this.#clock = clock;
    this.#giveBack = giveBack;
  }

  relieve(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#relievedMs >= RELIEFS_APART_MS && this.#giveBack()) this.#relievedMs = nowMs;
  }
}

/** Gives memory back whenever the event loop of this thread has had little to do for some seconds. */
export function giveBackWhenIdle(): Timer {
  const memory = new IdleMemory();
  let before = performance.eventLoopUtilization();
  let timer: Timer;
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    memory.look(performance.eventLoopUtilization(now, before).utilization < IDLE_LOAD);
    before = performance.eventLoopUtilization();
    timer = systemClock.after(LOOK_MS, look, { unref: true });
  };
  timer = systemClock.after(LOOK_MS, look, { unref: true });
  return { cancel: () => timer.cancel() };
}

function ownHeapBytes(): number {
  return getHeapStatistics().total_heap_size;
}

type Collect = (options: Record<string, string>) => void;

/**
 * Takes 50 to 100 ms. The function is hidden behind a flag, which is set only for as long as it is looked up. All threads
 * share the flag: if another one clears it at this moment, nothing is found, and false is returned.
 */
function giveBackMemory(): boolean {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as Collect | undefined;
  setFlagsFromString('--no-expose-gc');
  collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return collect !== undefined;
}
