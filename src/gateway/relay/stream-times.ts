import type { Clock, Timer } from '../../kit/clock.ts';
import type { CallLimits } from '../call-limits.ts';

type StreamLimits = Pick<CallLimits, 'firstFrameMs' | 'idleMs' | 'streamMs' | 'keepAliveMs'>;

export interface StreamTimesListener {
  /** The host has sent nothing for so long; told again after as long again. */
  hostSilent(limitMs: number): void;
  /** The client was sent nothing for so long that it may take the connection for dead. */
  clientUnfed(): void;
  ranTooLong(): void;
}

/**
 * How long a stream and its silences may last, by one timer: who speaks is noted with every read, and looked at only when
 * the shortest of the limits may have passed. Most streams have ended by then.
 */
export class StreamTimes {
  readonly startedMs: number;
  readonly #clock: Clock;
  readonly #limits: StreamLimits;
  readonly #listener: StreamTimesListener;
  readonly #shortestMs: number;
  #hostMs: number;
  #hostLimitMs: number;
  /** When the client was last sent something; null while it is not to be kept company. */
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

  /** The first frame may take minutes, the next must not: the shorter limit begins with the first content. */
  contentBegan(): void {
    this.#hostLimitMs = this.#limits.idleMs;
  }

  /** From now on the client's silences are filled, until it is lost. */
  clientFed(): void {
    this.#clientMs = this.#clock.monotonicMs();
  }

  clientLost(): void {
    this.#clientMs = null;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** What has fallen due is told; the timer is set for what does next, but never beyond the shortest limit. */
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
      this.#listener.clientUnfed();
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
