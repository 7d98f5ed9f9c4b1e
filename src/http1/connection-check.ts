import { type Clock, systemClock, type Timer } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { ClientTimeouts } from './server.ts';

/** One timer for all connections of a server: looks through them for clients that take too long. */
export class ConnectionCheck {
  /** Sockets follow the machine's time, whatever clock the calls are given. */
  readonly clock: Clock = systemClock;
  readonly everyMs: number;
  readonly #check: (nowMs: number) => void;
  #timer: Timer | null = null;

  constructor({ requestHeadMs, requestMs }: ClientTimeouts, check: (nowMs: number) => void) {
    this.everyMs = Math.min(LIMITS.connectionsCheckMs, requestHeadMs, requestMs);
    this.#check = check;
  }

  start(): void {
    this.#timer = this.clock.after(this.everyMs, () => this.#run(), { unref: true });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #run(): void {
    this.start();
    this.#check(this.clock.monotonicMs());
  }
}
