import type { BodySpending } from '../../gateway/guards/body-budgets.ts';
import type { Buckets } from '../../gateway/guards/rate-limiter.ts';
import type { CacheSize } from '../../kit/caches.ts';
import { type Count, LocalCount, SharedCount } from '../../kit/counts.ts';
import { LocalNumbers, type NumbersById, NumberTable } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';

/** Numbers by key or account that limits are about, and whether the smallest may be forgotten if there are too many ids. */
const TABLES = {
  rates: { forgets: true },
  taken: { forgets: true },
  bodyBytes: { forgets: true },
  jsonMembers: { forgets: true },
  kept: { forgets: true },
  slots: { forgets: false },
  bodies: { forgets: false },
  answers: { forgets: false },
} as const;
type Table = keyof typeof TABLES;

/** What every worker tells the others about itself. */
const FIGURES = ['ledgerDepth', 'lagMs', 'waitingForHosts'] as const;
type Figure = (typeof FIGURES)[number];

const CONNECTIONS = 0;
const CALLS = 1;
const COUNTS = 2;

/** The memory that the workers of a process share. */
export interface SharedMemory {
  readonly tables: Readonly<Record<Table, SharedArrayBuffer>>;
  readonly counts: SharedArrayBuffer;
  readonly figures: SharedArrayBuffer;
}

export function sharedMemoryFor(workers: number): SharedMemory {
  const memory = () => NumberTable.sharedMemory(LIMITS.limitedIdsMax);
  const tables = Object.fromEntries(Object.keys(TABLES).map((name) => [name, memory()]));
  return {
    tables: tables as Record<Table, SharedArrayBuffer>,
    counts: new SharedArrayBuffer(COUNTS * Int32Array.BYTES_PER_ELEMENT),
    figures: new SharedArrayBuffer(workers * FIGURES.length * Int32Array.BYTES_PER_ELEMENT),
  };
}

/** Where the limits of calls keep their numbers, seen by one worker. */
export interface ThreadState {
  readonly buckets: Buckets;
  readonly bodySpending: BodySpending;
  readonly slots: NumbersById;
  readonly bodies: NumbersById;
  readonly answers: NumbersById;
  readonly kept: NumbersById;
  readonly connections: Count;
  readonly calls: Count;
  readonly figures: Figures;
}

/** The state of a gateway with one worker. */
export function ownState(): ThreadState {
  const figures = new Figures(new Int32Array(FIGURES.length), 0);
  const table = (name: Table) => new LocalNumbers(LIMITS.limitedIdsMax, TABLES[name].forgets);
  return { ...tablesBy(table), connections: new LocalCount(), calls: new LocalCount(), figures };
}

export function threadState({ tables, counts, figures }: SharedMemory, worker: number): ThreadState {
  const table = (name: Table) => new NumberTable({ memory: tables[name], forgets: TABLES[name].forgets });
  const count = (at: number) => new SharedCount(new Int32Array(counts, at * Int32Array.BYTES_PER_ELEMENT, 1));
  return {
    ...tablesBy(table),
    connections: count(CONNECTIONS),
    calls: count(CALLS),
    figures: new Figures(new Int32Array(figures), worker),
  };
}

function tablesBy(table: (name: Table) => NumbersById) {
  return {
    buckets: { fullAtMs: table('rates'), taken: table('taken') },
    bodySpending: { bytes: table('bodyBytes'), members: table('jsonMembers') },
    slots: table('slots'),
    bodies: table('bodies'),
    answers: table('answers'),
    kept: table('kept'),
  };
}

/** Shared tables are those of all workers. */
export function tableSizes({ buckets, bodySpending, slots, bodies, answers, kept }: ThreadState): CacheSize[] {
  const tables = {
    request_rates: buckets.fullAtMs,
    requests_counted: buckets.taken,
    body_byte_budgets: bodySpending.bytes,
    json_member_budgets: bodySpending.members,
    stored_answer_budgets: kept,
    keys_with_calls: slots,
    keys_with_bodies: bodies,
    accounts_with_responses: answers,
  };
  return Object.entries(tables).map(([cache, { size, idsMax }]) => ({ cache, entries: size, entriesMax: idsMax }));
}

/** A few numbers of each worker, which the others read. */
class Figures {
  readonly #words: Int32Array;
  readonly #own: number;

  constructor(words: Int32Array, worker: number) {
    this.#words = words;
    this.#own = worker * FIGURES.length;
  }

  publish(figure: Figure, value: number): void {
    Atomics.store(this.#words, this.#own + FIGURES.indexOf(figure), Math.ceil(value));
  }

  /** The sum over all workers. */
  sum(figure: Figure): number {
    return this.#all(figure).reduce((sum, value) => sum + value, 0);
  }

  /** The largest value of any worker. */
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
