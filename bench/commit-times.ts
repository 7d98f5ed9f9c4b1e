import { sharedMs } from '../src/kit/clock.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { SqliteStore } from '../src/store/sqlite/sqlite-store.ts';

export interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The parts of the time that a call waits for the ledger, in the order in which they happen. */
export const PARTS = {
  hold: 'a hold, as the call waits for it',
  settle: 'a settlement, as the call waits for it',
  queue: '  until its batch is sent',
  toWriter: '  until the writer begins with it',
  statements: '  statements, and writing to the log',
  sync: '  sync of the log',
  mark: '  checking the file, writing the mark',
  back: '  until its thread has the outcomes',
} as const;
export type Part = keyof typeof PARTS;

/** What the ledger asked of the store since the last question: each batch is one commit. */
export interface BatchReport {
  readonly batches: number;
  readonly operations: number;
  readonly parts: Readonly<Record<Part, Times>>;
}

/** Times the commits of a gateway whose ledger is in SQLite. */
export class CommitTimer {
  readonly #samples = emptySamples();
  #submittedMs: number[] = [];
  #operations = 0;

  constructor(ledger: Ledger, store: SqliteStore) {
    this.#timeOperations(ledger);
    this.#timeBatches(store);
  }

  report(): BatchReport {
    const parts = {} as Record<Part, Times>;
    const batches = this.#samples.sync.length;
    for (const part of Object.keys(PARTS) as Part[]) parts[part] = timesOf(this.#samples[part].splice(0));
    const operations = this.#operations;
    this.#operations = 0;
    return { batches, operations, parts };
  }

  #timeOperations(ledger: Ledger): void {
    const time = async <Result>(part: Part, run: () => Promise<Result>): Promise<Result> => {
      const startMs = sharedMs();
      this.#submittedMs.push(startMs);
      const result = await run();
      this.#samples[part].push(sharedMs() - startMs);
      return result;
    };
    const { hold, settle } = { hold: ledger.hold.bind(ledger), settle: ledger.settle.bind(ledger) };
    ledger.hold = (...args) => time('hold', () => hold(...args));
    ledger.settle = (...args) => time('settle', () => settle(...args));
  }

  #timeBatches(store: SqliteStore): void {
    const apply = store.apply.bind(store);
    store.apply = async (operations) => {
      const sentMs = sharedMs();
      for (const submittedMs of this.#submittedMs.splice(0)) this.#samples.queue.push(sentMs - submittedMs);
      const outcomes = await apply(operations);
      this.#operations += operations.length;
      this.#noteCommit(sentMs, store.lastCommit);
      return outcomes;
    };
  }

  #noteCommit(sentMs: number, { begunMs, writtenMs, syncedMs, endedMs }: SqliteStore['lastCommit']): void {
    const steps = [sentMs, begunMs, writtenMs, syncedMs, endedMs, sharedMs()];
    // Something else was written after it, or nothing was.
    if (steps.some((step, at) => at > 0 && step < steps[at - 1]!)) return;
    const parts: readonly Part[] = ['toWriter', 'statements', 'sync', 'mark', 'back'];
    parts.forEach((part, at) => void this.#samples[part].push(steps[at + 1]! - steps[at]!));
  }
}

function emptySamples(): Record<Part, number[]> {
  return Object.fromEntries(Object.keys(PARTS).map((part) => [part, [] as number[]])) as Record<Part, number[]>;
}

function timesOf(samples: number[]): Times {
  samples.sort((a, b) => a - b);
  const at = (part: number): number => samples[Math.floor((samples.length - 1) * part)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
