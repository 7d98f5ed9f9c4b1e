import type { Clock, Timer } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { Instance, Store } from '../store/store.ts';

/** What the ledger asks of its process's life. */
export interface LedgerLife {
  readonly epoch: bigint;
  /** In one sentence; null while calls may come in. */
  readonly whyNotAdmitting: string | null;
}

export type LifeEvent =
  /** Others had declared this process dead and voided its holds; it goes on under a new epoch. */
  | { readonly kind: 'reborn'; readonly instance: Instance }
  /** Processes that were silent too long were declared dead here; so many of their holds were voided. */
  | { readonly kind: 'reaped'; readonly holds: number }
  /** Some of their holds cannot be voided, for a reason of one sentence that had not been told before. */
  | { readonly kind: 'stuck'; readonly reason: string }
  | { readonly kind: 'failed'; readonly what: 'beat' | 'reap'; readonly error: unknown };

export interface LifeTerms {
  readonly store: Pick<Store, 'beginInstance' | 'beat' | 'reap'>;
  readonly clock: Clock;
  onEvent(event: LifeEvent): void;
}

const SILENT = 'This process could not tell the store in time that it lives.';

/**
 * The life of a process that shares its store with others. It says every second that it goes on; when it cannot, it stops
 * admitting before anyone may take it for dead. Whoever is heard clears up after those who are not.
 */
export class Life implements LedgerLife {
  readonly #terms: LifeTerms;
  readonly ids: IdSource;
  #instance: Instance;
  /** When the last beat that was heard set out: from then on others count our silence, not earlier. */
  #heardMs: number;
  #isReaping = false;
  #stuck: string | null = null;
  #timer: Timer | null = null;
  #stopped = false;

  private constructor(terms: LifeTerms, instance: Instance, beganMs: number) {
    this.#terms = terms;
    this.#instance = instance;
    this.#heardMs = beganMs;
    this.ids = new IdSource(terms.clock, instance.number);
  }

  static async begin(terms: LifeTerms): Promise<Life> {
    const beganMs = terms.clock.monotonicMs();
    const life = new Life(terms, await terms.store.beginInstance(), beganMs);
    life.#beatLater(LIMITS.instanceBeatMs);
    return life;
  }

  get instance(): Instance {
    return this.#instance;
  }

  get epoch(): bigint {
    return this.#instance.epoch;
  }

  get whyNotAdmitting(): string | null {
    return this.#terms.clock.monotonicMs() - this.#heardMs > LIMITS.instanceSilentMs ? SILENT : null;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #beatLater(ms: number): void {
    if (this.#stopped) return;
    this.#timer = this.#terms.clock.after(ms, () => void this.#beat(), { unref: true });
  }

  async #beat(): Promise<void> {
    const { store, clock, onEvent } = this.#terms;
    const beganMs = clock.monotonicMs();
    try {
      if (!(await store.beat(this.epoch))) await this.#beginAnew();
      this.#heardMs = beganMs;
      void this.#reap();
    } catch (error) {
      onEvent({ kind: 'failed', what: 'beat', error });
    }
    this.#beatLater(Math.max(0, LIMITS.instanceBeatMs - (clock.monotonicMs() - beganMs)));
  }

  /** The holds of the life before are void; their calls will find that out when they settle, and charge nothing. */
  async #beginAnew(): Promise<void> {
    this.#instance = await this.#terms.store.beginInstance();
    this.ids.continueAs(this.#instance.number);
    this.#terms.onEvent({ kind: 'reborn', instance: this.#instance });
  }

  async #reap(): Promise<void> {
    if (this.#isReaping) return;
    this.#isReaping = true;
    try {
      const { voided: holds, stuck } = await this.#terms.store.reap();
      if (holds > 0) this.#terms.onEvent({ kind: 'reaped', holds });
      if (stuck !== null && stuck !== this.#stuck) this.#terms.onEvent({ kind: 'stuck', reason: stuck });
      this.#stuck = stuck;
    } catch (error) {
      this.#terms.onEvent({ kind: 'failed', what: 'reap', error });
    }
    this.#isReaping = false;
  }
}
