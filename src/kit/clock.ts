// The global of the same name is a getter, which takes a quarter of the time of a reading.
import { performance } from 'node:perf_hooks';

/** A running timer; cancelling it twice, or after it ran, does nothing. */
export interface Timer {
  cancel(): void;
}

interface TimerOptions {
  /** An unreferenced timer does not keep the process alive. */
  unref?: boolean;
}

/** The only source of time: code takes a Clock, so that tests can set the time. */
export interface Clock {
  /** Wall time in milliseconds since 1970; it may step backwards. */
  nowMs(): number;
  /** Milliseconds since a fixed moment; never steps back, so use it to measure durations. */
  monotonicMs(): number;
  after(ms: number, run: () => void, options?: TimerOptions): Timer;
}

/** Node runs a longer timer at once, with a warning. */
const NODE_TIMER_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (ms, run, options) => (ms <= NODE_TIMER_MS_MAX ? setTimer(ms, run, options) : setLongTimer(ms, run, options)),
};

/** Monotonic time on a scale that all threads of the process share. */
export function sharedMs(): number {
  baseMs ??= clockBaseMs();
  return baseMs + performance.now();
}

/** That of this thread, once it is known. */
let baseMs: number | null = null;

/** When the monotonic time of this thread began, on that scale. */
export function clockBaseMs(): number {
  // The first calls of both load code, for milliseconds that would be part of the difference.
  machineMs();
  performance.now();
  return machineMs() - performance.now();
}

function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The system clock of another thread, whose monotonic time begins with that of the thread with this base. */
export function clockFrom(baseMs: number): Clock {
  const offsetMs = clockBaseMs() - baseMs;
  return { ...systemClock, monotonicMs: () => performance.now() + offsetMs };
}

const timerErrorHandlers = new Set<(error: unknown) => void>();

/**
 * Handles what timers of the system clock throw, until the returned function is called. A timer has no caller who could
 * catch its error, and without a handler the error ends the process.
 */
export function handleTimerErrors(handle: (error: unknown) => void): () => void {
  timerErrorHandlers.add(handle);
  return () => void timerErrorHandlers.delete(handle);
}

function runCaught(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (timerErrorHandlers.size === 0) throw error;
    for (const handle of timerErrorHandlers) handle(error);
  }
}

/**
 * Runs after one more look at sockets and other threads. When a process was paused or a machine busy for longer than a time
 * limit, what arrived meanwhile is read first, and so does not count as late. That look must not wait for anything: only an
 * immediate that is referenced keeps it from doing so.
 */
function setTimer(ms: number, run: () => void, options?: TimerOptions): Timer {
  let due: NodeJS.Immediate | undefined;
  const timeout = setTimeout(() => {
    due = setImmediate(runCaught, run);
  }, ms);
  if (options?.unref) timeout.unref();
  return {
    cancel: () => {
      clearTimeout(timeout);
      clearImmediate(due);
    },
  };
}

function setLongTimer(ms: number, run: () => void, options?: TimerOptions): Timer {
  const rest = ms - NODE_TIMER_MS_MAX;
  let current = setTimer(
    NODE_TIMER_MS_MAX,
    () => {
      current = systemClock.after(rest, run, options);
    },
    options,
  );
  return { cancel: () => current.cancel() };
}

interface ManualTimer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** If one advance runs this many timers, one of them keeps rescheduling itself without delay. */
const MANUAL_TIMERS_PER_ADVANCE_MAX = 1_000_000;

/** A clock that moves only when a test advances it. */
export class ManualClock implements Clock {
  #nowMs: number;
  #monotonicMs = 0;
  /** Sorted by due time; timers due at the same time keep the order in which they were set. */
  readonly #timers: ManualTimer[] = [];

  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** The number of timers that have not run yet. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  /** True if a timer is due in exactly this time. */
  fallsDueIn(ms: number): boolean {
    return this.#timers.some(({ dueMs }) => dueMs === this.#monotonicMs + ms);
  }

  after(ms: number, run: () => void): Timer {
    const timer: ManualTimer = { dueMs: this.#monotonicMs + Math.max(0, ms), run };
    const later = this.#timers.findIndex((other) => other.dueMs > timer.dueMs);
    this.#timers.splice(later === -1 ? this.#timers.length : later, 0, timer);
    return { cancel: () => this.#cancel(timer) };
  }

  /** Moves both times forward and runs each timer at the moment it is due. */
  advance(ms: number): void {
    const endMs = this.#monotonicMs + ms;
    for (let fired = 0; ; fired++) {
      const next = this.#timers[0];
      if (next === undefined || next.dueMs > endMs) break;
      if (fired === MANUAL_TIMERS_PER_ADVANCE_MAX) throw new Error('A timer keeps rescheduling itself without delay.');
      this.#timers.shift();
      this.#moveTo(next.dueMs);
      next.run();
    }
    this.#moveTo(endMs);
  }

  /** Sets the wall clock only, as a time server would; timers are not affected. */
  setNowMs(ms: number): void {
    this.#nowMs = ms;
  }

  #moveTo(monotonicMs: number): void {
    this.#nowMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #cancel(timer: ManualTimer): void {
    const index = this.#timers.indexOf(timer);
    if (index !== -1) this.#timers.splice(index, 1);
  }
}
