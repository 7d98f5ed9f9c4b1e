import type { Receipt } from '../../canonical/receipt.ts';
import { headerLines } from '../../http1/headers.ts';
import type { OutboundResponse } from '../../http1/server.ts';
import { stringifyJson } from '../../json/stringify.ts';
import type { Clock, Timer } from '../../kit/clock.ts';
import type { FeedEntry, FeedFilter, ReceiptFeed, Subscription } from '../../ledger/receipt-feed.ts';
import { LIMITS } from '../../limits.ts';

interface FeedStreamTerms {
  readonly feed: Pick<ReceiptFeed, 'subscribe'>;
  readonly filter: FeedFilter;
  /** The cursor of a reader who comes back. */
  readonly after: string | null;
  readonly clock: Clock;
  /** What this reader sees of a receipt. */
  view(receipt: Receipt): object;
  /** Throws if the reader may no longer see this. */
  check(): Promise<void>;
  onEnd(): void;
}

const NO_SUBSCRIPTION: Subscription = { cursor: '', missed: [], end: () => undefined };

/**
 * A feed of receipts as server-sent events. Whether the reader may still see it is checked every second, even while nothing
 * is sent; a reader who does not read gets a gap instead of what it missed.
 */
export class FeedStream {
  readonly #terms: FeedStreamTerms;
  #subscription = NO_SUBSCRIPTION;
  #response: OutboundResponse | null = null;
  #timer: Timer | null = null;
  #checkedAtMs: number;
  #wroteAtMs: number;
  /** The cursor of what was left out because the reader was behind; null if nothing was. */
  #leftOut: string | null = null;
  #hasEnded = false;

  /** Throws StoreUnavailable if the ledger cannot be read. */
  static async open(terms: FeedStreamTerms): Promise<FeedStream> {
    const stream = new FeedStream(terms);
    stream.#subscription = await terms.feed.subscribe(terms.filter, terms.after, (entries) => stream.#deliver(entries));
    return stream;
  }

  private constructor(terms: FeedStreamTerms) {
    this.#terms = terms;
    this.#checkedAtMs = terms.clock.monotonicMs();
    this.#wroteAtMs = this.#checkedAtMs;
  }

  start(response: OutboundResponse, requestId: string): void {
    this.#response = response;
    response.onClose = () => this.#stop();
    response.onDrain = () => this.#tellGap();
    if (response.destroyed) {
      this.#stop();
      return;
    }
    response.head(200, headerLines({ ...HEADERS, 'x-gateway-request-id': requestId }), null);
    const { cursor, missed } = this.#subscription;
    this.#write(event('ready', missed.length === 0 ? cursor : null, {}) + this.#textOf(missed));
    this.#checkLater();
  }

  end(): void {
    if (this.#hasEnded) return;
    const response = this.#response;
    this.#stop();
    response?.end();
  }

  #stop(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#timer?.cancel();
    this.#subscription.end();
    this.#terms.onEnd();
  }

  #deliver(entries: readonly FeedEntry[]): void {
    const response = this.#response;
    if (response === null || this.#hasEnded) return;
    const isOverdue = this.#terms.clock.monotonicMs() - this.#checkedAtMs > 2 * LIMITS.receiptFeedCheckMs;
    if (isOverdue) this.end();
    else if (response.pendingBytes > LIMITS.receiptFeedUnreadBytesMax) this.#leftOut = entries.at(-1)!.cursor;
    else {
      this.#tellGap();
      this.#write(this.#textOf(entries));
    }
  }

  #tellGap(): void {
    const cursor = this.#leftOut;
    this.#leftOut = null;
    if (cursor !== null && !this.#hasEnded) this.#write(gap(cursor));
  }

  #textOf(entries: readonly FeedEntry[]): string {
    const { view } = this.#terms;
    return entries
      .map(({ cursor, receipt }) => (receipt === null ? gap(cursor) : event('receipt', cursor, view(receipt))))
      .join('');
  }

  #write(text: string): void {
    this.#wroteAtMs = this.#terms.clock.monotonicMs();
    this.#response?.write(text);
  }

  #checkLater(): void {
    this.#timer = this.#terms.clock.after(LIMITS.receiptFeedCheckMs, () => void this.#check(), { unref: true });
  }

  /** If it cannot be checked the feed ends too: the reader can come back. */
  async #check(): Promise<void> {
    const { clock, check } = this.#terms;
    const beganMs = clock.monotonicMs();
    try {
      await check();
    } catch {
      this.end();
      return;
    }
    if (this.#hasEnded) return;
    this.#checkedAtMs = beganMs;
    const isQuiet = beganMs - this.#wroteAtMs >= LIMITS.receiptFeedKeepAliveMs;
    if (isQuiet && this.#response?.pendingBytes === 0) this.#write(KEEP_ALIVE);
    this.#checkLater();
  }
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};
const KEEP_ALIVE = ': keep-alive\n\n';

function gap(cursor: string): string {
  return event('gap', cursor, { message: 'Receipts may be missing here. Read the list again.' });
}

/** JSON has no line breaks of its own. */
function event(name: string, cursor: string | null, data: object): string {
  return `event: ${name}\n${cursor === null ? '' : `id: ${cursor}\n`}data: ${stringifyJson(data)}\n\n`;
}
