import { counted } from './counted.ts';

interface BatcherOptions<Op, Out> {
  /** Returns one result per operation, in order; an Error rejects its operation alone, a rejection all of them. */
  readonly run: (ops: Op[]) => Promise<readonly (Out | Error)[]>;
  readonly batchMax: number;
  readonly inFlightMax: number;
  /** How many operations may wait for a batch. */
  readonly queueMax: number;
  /** Maps a failure to the error that the caller gets; cheaper than wrapping every promise. */
  readonly failure?: (cause: unknown) => Error;
  /** Urgent operations go first in a batch, but never shut the others out. */
  readonly urgent?: (op: Op) => boolean;
}

export class BatcherFull extends Error {
  override readonly name = 'BatcherFull';
}

export class BatcherClosed extends Error {
  override readonly name = 'BatcherClosed';
}

interface Waiting<Op, Out> {
  readonly op: Op;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

/** After this many batches with only urgent operations, the next one includes another operation. */
const URGENT_ONLY_BATCHES_MAX = 3;

/** How many turns of the event loop a batch waits while each adds operations: a commit costs more than a turn. */
const GATHERING_TURNS_MAX = 4;

/**
 * Collects operations while the last batch runs and sends them together. There is no timer: when operations wait and
 * nothing runs, a batch starts after the first turn of the event loop that added none, or after the fourth turn.
 */
export class Batcher<Op, Out> {
  readonly #options: BatcherOptions<Op, Out>;
  readonly #urgent = new Fifo<Waiting<Op, Out>>();
  readonly #others = new Fifo<Waiting<Op, Out>>();
  readonly #idleWaiters: (() => void)[] = [];
  #urgentOnlyBatches = 0;
  #inFlight = 0;
  #isScheduled = false;
  #isClosed = false;

  constructor(options: BatcherOptions<Op, Out>) {
    this.#options = options;
  }

  /** The number of operations that wait for a batch. */
  get depth(): number {
    return this.#urgent.length + this.#others.length;
  }

  submit(op: Op): Promise<Out> {
    if (this.#isClosed) return Promise.reject(this.#failure(new BatcherClosed('The batcher is closed.')));
    if (this.depth >= this.#options.queueMax) {
      return Promise.reject(
        this.#failure(new BatcherFull(`The queue is full, with ${counted(this.depth, 'operation')} waiting.`)),
      );
    }
    return new Promise((resolve, reject) => {
      const queue = this.#options.urgent?.(op) ? this.#urgent : this.#others;
      queue.push({ op, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Refuses new operations; resolves when all earlier ones are answered. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.idle();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= this.#options.inFlightMax) return;
    this.#isScheduled = true;
    this.#gather(GATHERING_TURNS_MAX, this.depth);
  }

  /** A turn of the event loop reads every socket that is ready; if it added operations, the next turn may add more. */
  #gather(turnsLeft: number, depthBefore: number): void {
    setImmediate(() => {
      if (turnsLeft > 1 && this.depth > depthBefore) {
        this.#gather(turnsLeft - 1, this.depth);
        return;
      }
      this.#isScheduled = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#inFlight < this.#options.inFlightMax && this.depth > 0) {
      this.#inFlight++;
      void this.#runBatch(this.#takeBatch());
    }
  }

  #takeBatch(): Waiting<Op, Out>[] {
    const { batchMax } = this.#options;
    const isOtherDue = this.#urgentOnlyBatches >= URGENT_ONLY_BATCHES_MAX;
    const kept = Math.min(this.#others.length, Math.max(Math.floor(batchMax / 4), isOtherDue ? 1 : 0));
    const urgent = this.#urgent.take(batchMax - kept);
    const others = this.#others.take(batchMax - urgent.length);
    this.#urgentOnlyBatches = others.length === 0 && this.#others.length > 0 ? this.#urgentOnlyBatches + 1 : 0;
    return urgent.concat(others);
  }

  async #runBatch(batch: readonly Waiting<Op, Out>[]): Promise<void> {
    try {
      const outs = await this.#options.run(batch.map(({ op }) => op));
      if (outs.length !== batch.length)
        throw new Error(`A batch of ${counted(batch.length, 'operation')} got ${counted(outs.length, 'result')}.`);
      batch.forEach(({ resolve, reject }, index) => {
        const out = outs[index]!;
        if (out instanceof Error) reject(this.#failure(out));
        else resolve(out);
      });
    } catch (error) {
      for (const { reject } of batch) reject(this.#failure(error));
    }
    this.#inFlight--;
    if (this.depth > 0) this.#schedule();
    if (this.#isIdle()) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #failure(cause: unknown): unknown {
    return this.#options.failure === undefined ? cause : this.#options.failure(cause);
  }

  #isIdle(): boolean {
    return this.#inFlight === 0 && this.depth === 0;
  }
}

/** A queue that takes from the front by moving an index; it drops used items when they are half of the array. */
class Fifo<Item> {
  #items: Item[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  take(count: number): Item[] {
    const taken = this.#items.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }
}
