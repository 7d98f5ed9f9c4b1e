import type { Clock, Timer } from '../../kit/clock.ts';
import type { CallLimits } from '../call-limits.ts';

type StreamLimits = Pick<CallLimits, 'firstFrameMs' | 'idleMs' | 'streamMs' | 'keepAliveMs'>;

interface StreamTimesListener {
  /** The host has sent nothing for `limitMs`. Called again after each further `limitMs`. */
  hostSilent(limitMs: number): void;
  /** Nothing was sent to the client for so long that it may consider the connection dead. */
  clientIdle(): void;
  ranTooLong(): void;
}

/**
 * Enforces the time limits of a stream with one timer. Every read only notes the time. The limits are checked when the
 * shortest of them may have passed; most streams have ended by then.
 */
export class StreamTimes {
  readonly startedMs: number;
  readonly #clock: Clock;
  readonly #limits: StreamLimits;
  readonly #listener: StreamTimesListener;
  readonly #shortestMs: number;
  #hostMs: number;
  #hostLimitMs: number;
  /** When something was last sent to the client; null while it needs no keep-alives. */
  #clientMs: number | null = null;
  #timer: Timer | null;

  constructor(clock: Clock, limits: StreamLimits, listener: StreamTimesListener) {
    const { firstFrameMs, idleMs, streamMs, keepAliveMs } = limits;
    this.#clock = clock;
    this.#limits = limits;
    this.#listener = listener;
    this.#shortestMs = Math.min(firstFrameMs, idleMs, streamMs, keepAliveMs);
    this.startedMs = clock.monotonicMs();
    this.#hostMs = this.startedMs;
    this.#hostLimitMs = firstFrameMs;
    this.#timer = clock.after(this.#shortestMs, () => this.#look());
  }

  hostSpoke(): void {
    this.#hostMs = this.#clock.monotonicMs();
  }

  /** The first frame may take minutes, later ones may not: the shorter limit starts with the first content. */
  contentBegan(): void {
    this.#hostLimitMs = this.#limits.idleMs;
  }

  /** From now on the client gets keep-alives, until it is lost. */
  clientWritten(): void {
    this.#clientMs = this.#clock.monotonicMs();
  }

  clientLost(): void {
    this.#clientMs = null;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Reports every limit that has passed, and sets the timer for the next one, at most the shortest limit away. */
  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    const { streamMs, keepAliveMs } = this.#limits;
    if (nowMs >= this.startedMs + streamMs) this.#listener.ranTooLong();
    else if (nowMs >= this.#hostMs + this.#hostLimitMs) {
      this.#hostMs = nowMs;
      this.#listener.hostSilent(this.#hostLimitMs);
    }
    if (this.#timer === null) return;
    if (this.#clientMs !== null && nowMs >= this.#clientMs + keepAliveMs) {
      this.#clientMs = nowMs;
      this.#listener.clientIdle();
    }
    if (this.#timer !== null) this.#timer = this.#clock.after(this.#nextMs() - nowMs, () => this.#look());
  }

  #nextMs(): number {
    const { streamMs, keepAliveMs } = this.#limits;
    const clientMs = this.#clientMs === null ? Number.POSITIVE_INFINITY : this.#clientMs + keepAliveMs;
    const dueMs = Math.min(this.startedMs + streamMs, this.#hostMs + this.#hostLimitMs, clientMs);
    return Math.min(dueMs, this.#clock.monotonicMs() + this.#shortestMs);
  }
}
