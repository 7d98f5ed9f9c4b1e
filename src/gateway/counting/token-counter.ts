import type { Worker } from 'node:worker_threads';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { WireName } from '../../canonical/wire-names.ts';
import type { CacheSize } from '../../kit/caches.ts';
import type { Clock, Timer } from '../../kit/clock.ts';
import { isMovable, takePieces } from '../../kit/joined-pieces.ts';
import { startThread } from '../../kit/start-thread.ts';
import { LIMITS } from '../../limits.ts';
import type { CountOrder } from '../../money/count-tasks.ts';
import type { PromptCount } from '../../money/counted-bound.ts';
import { BodyBuffers } from './body-buffers.ts';
import type { CountAnswer, CountCancellation, CountRequest, SentBody, SentPart } from './count-thread.ts';

/** A request body that its wire has accepted. The counting thread finds the texts in it. */
export interface PromptBody {
  readonly wire: WireName;
  readonly bytes: Buffer;
  /** Characters of the texts and tools in it. */
  readonly chars: number;
}

interface PendingCount {
  readonly account: string;
  readonly chars: number;
  isCancelled: boolean;
  timer: Timer;
  resolve(count: PromptCount | null): void;
}

/** Counts that wait or run, of one account or of all. */
interface Load {
  counts: number;
  chars: number;
}

/**
 * Counts the tokens of prompts in a thread, which starts on first use. Accounts take turns, and each count has a time
 * limit. A thread that does not answer any more is terminated.
 */
export class TokenCounter {
  readonly #clock: Clock;
  readonly #pending = new Map<number, PendingCount>();
  readonly #loads = new Map<string, Load>();
  readonly #buffers = new BodyBuffers();
  readonly #load: Load = { counts: 0, chars: 0 };
  #worker: Worker | null = null;
  #idle: Timer | null = null;
  #lastId = 0;
  /** As the thread said with its last answer. */
  #textsKept = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  sizes(): CacheSize[] {
    return [
      { cache: 'counted_texts', entries: this.#textsKept, entriesMax: LIMITS.tokenCountsKept },
      { cache: 'counts_pending', entries: this.#load.counts, entriesMax: LIMITS.tokenCountsPendingMax },
      { cache: 'count_buffers', entries: this.#buffers.spare, entriesMax: LIMITS.tokenCountSpareBuffersMax },
    ];
  }

  /** Null means unknown: too much text, a timeout, or too many waiting counts of this account or of all. */
  count(order: CountOrder, prompt: PromptTexts | PromptBody): Promise<PromptCount | null> {
    const chars = charsIn(prompt);
    if (!this.#hasRoom(order.account, chars)) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<PromptCount | null>();
    const id = ++this.#lastId;
    const timer = this.#clock.after(LIMITS.tokenCountMs, () => this.#cancel(id), { unref: true });
    this.#pending.set(id, { account: order.account, chars, isCancelled: false, timer, resolve });
    this.#note(order.account, 1, chars);
    this.#idle?.cancel();
    this.#worker ??= this.#start();
    this.#send(this.#worker, { id, ...order }, prompt);
    return promise;
  }

  /** Terminates the thread. Waiting counts resolve to unknown, and the next count starts a new thread. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#textsKept = 0;
    this.#idle?.cancel();
    this.#buffers.clear();
    for (const id of [...this.#pending.keys()]) this.#settle(id, null);
    await worker?.terminate();
  }

  /** The call still needs its body. So the pieces that it arrived in are moved to the thread, or it is copied. */
  #send(worker: Worker, order: Omit<CountRequest, 'prompt'>, prompt: PromptTexts | PromptBody): void {
    if (!('bytes' in prompt)) {
      const { texts, toolTexts } = prompt;
      worker.postMessage({ ...order, prompt: { texts, toolTexts } } satisfies CountRequest);
      return;
    }
    const { wire, bytes } = prompt;
    const parts = this.#partsOf(bytes);
    const sent: SentBody = { wire, parts };
    worker.postMessage(
      { ...order, prompt: sent } satisfies CountRequest,
      parts.map(({ buffer }) => buffer),
    );
  }

  #partsOf(bytes: Buffer): SentPart[] {
    const pieces = takePieces(bytes);
    if (pieces === null) return [this.#copyOf(bytes)];
    return pieces.map((piece) => (isMovable(piece) ? movedPart(piece) : this.#copyOf(piece)));
  }

  #copyOf(bytes: Buffer): SentPart {
    return { buffer: this.#buffers.copy(bytes), start: 0, bytes: bytes.length, isSpare: true };
  }

  #hasRoom(account: string, chars: number): boolean {
    const own = this.#loads.get(account) ?? { counts: 0, chars: 0 };
    return (
      chars <= LIMITS.tokenCountCharsMax &&
      this.#load.counts < LIMITS.tokenCountsPendingMax &&
      this.#load.chars + chars <= LIMITS.tokenCountCharsPendingMax &&
      own.counts < LIMITS.tokenCountsPendingPerAccountMax &&
      own.chars + chars <= LIMITS.tokenCountCharsPendingPerAccountMax
    );
  }

  #note(account: string, counts: number, chars: number): void {
    const own = this.#loads.get(account) ?? { counts: 0, chars: 0 };
    for (const load of [own, this.#load]) {
      load.counts += counts;
      load.chars += chars;
    }
    if (own.counts === 0) this.#loads.delete(account);
    else this.#loads.set(account, own);
  }

  /** The caller waits no longer, and others get its place at once. The thread drops the count, unless it hangs. */
  #cancel(id: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    pending.isCancelled = true;
    this.#note(pending.account, -1, -pending.chars);
    pending.resolve(null);
    pending.timer = this.#clock.after(LIMITS.tokenCancelMs, () => void this.close(), { unref: true });
    this.#worker?.postMessage({ cancel: id } satisfies CountCancellation);
  }

  #start(): Worker {
    const worker = startThread(import.meta.url, 'count-thread', {
      resourceLimits: { maxOldGenerationSizeMb: LIMITS.tokenCounterHeapMbMax },
    });
    const giveUp = () => {
      if (this.#worker === worker) void this.close();
    };
    worker.on('message', ({ id, count, spare, textsKept }: CountAnswer) => {
      if (this.#worker !== worker) return;
      this.#textsKept = textsKept;
      for (const buffer of spare) this.#buffers.giveBack(buffer);
      this.#settle(id, count);
    });
    worker.on('error', giveUp);
    worker.on('exit', giveUp);
    worker.unref();
    return worker;
  }

  #settle(id: number, count: PromptCount | null): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.timer.cancel();
    if (!pending.isCancelled) this.#note(pending.account, -1, -pending.chars);
    pending.resolve(count);
    if (this.#pending.size > 0 || this.#worker === null) return;
    this.#idle = this.#clock.after(LIMITS.tokenCounterIdleMs, () => void this.close(), { unref: true });
  }
}

function movedPart({ buffer, byteOffset, byteLength }: Buffer): SentPart {
  return { buffer: buffer as ArrayBuffer, start: byteOffset, bytes: byteLength, isSpare: false };
}

function charsIn(prompt: PromptTexts | PromptBody): number {
  return 'bytes' in prompt ? prompt.chars : charsOf(prompt.texts) + charsOf(prompt.toolTexts);
}

function charsOf(texts: readonly string[]): number {
  let chars = 0;
  for (const text of texts) chars += text.length;
  return chars;
}
