import type { BodySpending } from '../../gateway/guards/body-budgets.ts';
import type { Buckets } from '../../gateway/guards/rate-limiter.ts';
import { type Count, LocalCount, SharedCount } from '../../kit/counts.ts';
import { type NumbersById, SharedNumbers } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';

/** Numbers by key or account that limits are about. `forgets`: old numbers may be dropped if there are too many ids. */
const TABLES = {
  rates: { forgets: true },
  taken: { forgets: true },
  bodyBytes: { forgets: true },
  jsonMembers: { forgets: true },
  kept: { forgets: true },
  slots: { forgets: false },
  bodies: { forgets: false },
} as const;

/** What every worker tells the others about itself. */
const FIGURES = ['ledgerDepth', 'lagMs', 'waitingForHosts'] as const;
export type Figure = (typeof FIGURES)[number];

const CONNECTIONS = 0;
const CALLS = 1;
const COUNTS = 2;

/** The memory that the workers of a process share. */
export interface SharedMemory {
  readonly tables: Readonly<Record<keyof typeof TABLES, SharedArrayBuffer>>;
  readonly counts: SharedArrayBuffer;
  readonly figures: SharedArrayBuffer;
}

export function sharedMemoryFor(workers: number): SharedMemory {
  const memory = () => SharedNumbers.memoryFor(LIMITS.workerSharedIdsMax);
  const tables = Object.fromEntries(Object.keys(TABLES).map((name) => [name, memory()]));
  return {
    tables: tables as Record<keyof typeof TABLES, SharedArrayBuffer>,
    counts: new SharedArrayBuffer(COUNTS * Int32Array.BYTES_PER_ELEMENT),
    figures: new SharedArrayBuffer(workers * FIGURES.length * Int32Array.BYTES_PER_ELEMENT),
  };
}

/** Where the limits of calls keep their numbers, seen by one worker. Absent: in this thread. */
export interface ThreadState {
  readonly buckets?: Buckets;
  readonly bodySpending?: BodySpending;
  readonly slots?: NumbersById;
  readonly bodies?: NumbersById;
  readonly kept?: NumbersById;
  readonly connections: Count;
  readonly calls: Count;
  readonly figures: Figures;
}

/** The state of a gateway with one worker. */
export function ownState(): ThreadState {
  const figures = new Figures(new Int32Array(FIGURES.length), 0);
  return { connections: new LocalCount(), calls: new LocalCount(), figures };
}

export function threadState({ tables, counts, figures }: SharedMemory, worker: number): ThreadState {
  const table = (name: keyof typeof TABLES) => new SharedNumbers({ memory: tables[name], ...TABLES[name] });
  const count = (at: number) => new SharedCount(new Int32Array(counts, at * Int32Array.BYTES_PER_ELEMENT, 1));
  return {
    buckets: { fullAtMs: table('rates'), taken: table('taken') },
    bodySpending: { bytes: table('bodyBytes'), members: table('jsonMembers') },
    slots: table('slots'),
    bodies: table('bodies'),
    kept: table('kept'),
    connections: count(CONNECTIONS),
    calls: count(CALLS),
    figures: new Figures(new Int32Array(figures), worker),
  };
}

/** A few numbers of each worker, which the others read. */
export class Figures {
  readonly #words: Int32Array;
  readonly #own: number;

  constructor(words: Int32Array, worker: number) {
    this.#words = words;
    this.#own = worker * FIGURES.length;
  }

  publish(figure: Figure, value: number): void {
    Atomics.store(this.#words, this.#own + FIGURES.indexOf(figure), Math.ceil(value));
  }

  /** Of all workers together. */
  sum(figure: Figure): number {
    return this.#all(figure).reduce((sum, value) => sum + value, 0);
  }

  /** Of the worker that has most. */
  most(figure: Figure): number {
    return Math.max(...this.#all(figure));
  }

  #all(figure: Figure): number[] {
    const values: number[] = [];
    for (let at = FIGURES.indexOf(figure); at < this.#words.length; at += FIGURES.length)
      values.push(Atomics.load(this.#words, at));
    return values;
  }
}
