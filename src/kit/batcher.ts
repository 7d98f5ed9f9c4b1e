export interface BatcherOptions<Op, Out> {
  /** Answers each operation in its place; an Error in a place rejects that operation alone, a rejection all of them. */
  readonly run: (ops: Op[]) => Promise<readonly (Out | Error)[]>;
  readonly batchMax: number;
  readonly inFlightMax: number;
  /** How many operations may wait for a batch. */
  readonly queueMax: number;
  /** What a caller is told in the place of whatever its operation failed of: a wrapper around each promise would cost more. */
  readonly failure?: (cause: unknown) => Error;
  /** Urgent operations stand first in a batch and overtake the others, but never shut them out. */
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

/** After this many batches of urgent operations alone, the next one takes another along. */
const URGENT_ONLY_BATCHES_MAX = 3;

/** Turns of the event loop for which a batch waits while each brings more: a commit costs more than a turn. */
const GATHERING_TURNS_MAX = 4;

/**
 * Gathers operations while the last batch runs and sends them together. There is no timer: once something waits and
 * nothing runs, a batch leaves at the end of the first turn of the event loop that brought no more, or of the fourth.
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

  /** How many operations wait for a batch. */
  get depth(): number {
    return this.#urgent.length + this.#others.length;
  }

  submit(op: Op): Promise<Out> {
    if (this.#isClosed) return Promise.reject(this.#failure(new BatcherClosed('The batcher is closed.')));
    if (this.depth >= this.#options.queueMax) {
      return Promise.reject(this.#failure(new BatcherFull(`${this.depth} operations are waiting, and no more may.`)));
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

  /** Refuses what is submitted from now on; resolves when all that came before is answered. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.idle();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= this.#options.inFlightMax) return;
    this.#isScheduled = true;
    this.#gather(GATHERING_TURNS_MAX, this.depth);
  }

  /** At the end of a turn all sockets that had something to say were heard; if they said more, more may follow. */
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
      if (outs.length !== batch.length) throw new Error(`A batch of ${batch.length} got ${outs.length} answers.`);
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

/** A queue that takes from its front by moving an index, and moves its items only when half of it is spent. */
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
