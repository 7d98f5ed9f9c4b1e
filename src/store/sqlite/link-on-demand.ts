import type { Clock, Timer } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import type { StoreUnavailable } from '../store.ts';
import type { AnyVerbs, Link } from './link.ts';

/** Opens a link with its first call, and ends it when it was not called for a while: an idle thread takes 15 MB. */
export class LinkOnDemand<Verbs extends AnyVerbs> implements Link<Verbs> {
  readonly #open: () => Link<Verbs>;
  readonly #clock: Clock;
  #link: Link<Verbs> | null = null;
  #running = 0;
  #wasCalled = false;
  #timer: Timer | null = null;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(open: () => Link<Verbs>, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
  }

  get broken(): StoreUnavailable | null {
    return this.#link?.broken ?? null;
  }

  async call<Verb extends keyof Verbs & string>(
    verb: Verb,
    ...args: Parameters<Verbs[Verb]>
  ): Promise<ReturnType<Verbs[Verb]>> {
    this.#link ??= this.#start();
    this.#wasCalled = true;
    this.#running += 1;
    try {
      return await this.#link.call(verb, ...args);
    } finally {
      this.#running -= 1;
    }
  }

  async end(): Promise<void> {
    this.#endLink();
    await this.#ended;
  }

  #start(): Link<Verbs> {
    this.#lookLater();
    return this.#open();
  }

  #lookLater(): void {
    this.#timer = this.#clock.after(LIMITS.storeScannerIdleMs, () => this.#look(), { unref: true });
  }

  /** A broken link is kept, because `broken` has to say so from then on. */
  #look(): void {
    if (this.#running === 0 && !this.#wasCalled && this.broken === null) this.#endLink();
    else this.#lookLater();
    this.#wasCalled = false;
  }

  #endLink(): void {
    this.#timer?.cancel();
    this.#ended = Promise.all([this.#ended, this.#link?.end()]);
    this.#link = null;
  }
}
