import type { Clock, Timer } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { Instance, Store } from '../store/store.ts';

/** What the ledger needs to know about its process's registration in the store. */
export interface LedgerInstance {
  readonly epoch: bigint;
  /** In one sentence; null while calls are admitted. */
  readonly whyNotAdmitting: string | null;
}

export type InstanceEvent =
  /** Other processes had declared this one dead and voided its holds; it continues under a new epoch. */
  | { readonly kind: 'reregistered'; readonly instance: Instance }
  /** The store was put back to an older state; this process continues under a new epoch with nothing remembered. */
  | { readonly kind: 'replaced'; readonly instance: Instance; readonly reason: string }
  /** This process voided the open holds of instances that it declared dead. */
  | { readonly kind: 'reaped'; readonly holds: number }
  /** Some of those holds cannot be voided. Reported once for each new reason, which is one sentence. */
  | { readonly kind: 'stuck'; readonly reason: string }
  | { readonly kind: 'failed'; readonly what: 'heartbeat' | 'reap'; readonly error: unknown };

interface HeartbeatTerms {
  readonly store: Pick<Store, 'beginInstance' | 'heartbeat' | 'reap'>;
  readonly clock: Clock;
  onEvent(event: InstanceEvent): void;
}

const SILENT = 'This process could not send its heartbeat to the store in time.';

/**
 * Keeps a process registered in a store that it shares with others. It sends a heartbeat every second; if that fails, it
 * stops admission before another process may declare it dead. After each heartbeat it voids the holds of dead instances.
 */
export class Heartbeat implements LedgerInstance {
  readonly #terms: HeartbeatTerms;
  readonly ids: IdSource;
  #instance: Instance;
  /** When the last successful heartbeat was sent: others count our silence from then or later. */
  #heardMs: number;
  #isReaping = false;
  #stuck: string | null = null;
  #timer: Timer | null = null;
  #stopped = false;

  private constructor(terms: HeartbeatTerms, instance: Instance, beganMs: number) {
    this.#terms = terms;
    this.#instance = instance;
    this.#heardMs = beganMs;
    this.ids = new IdSource(terms.clock, instance.number);
    this.ids.continueAbove(instance.lastCallId);
  }

  static async begin(terms: HeartbeatTerms): Promise<Heartbeat> {
    const beganMs = terms.clock.monotonicMs();
    const heartbeat = new Heartbeat(terms, await terms.store.beginInstance(), beganMs);
    heartbeat.#schedule(LIMITS.instanceHeartbeatMs);
    return heartbeat;
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

  #schedule(ms: number): void {
    if (this.#stopped) return;
    this.#timer = this.#terms.clock.after(ms, () => void this.#send(), { unref: true });
  }

  async #send(): Promise<void> {
    const { store, clock, onEvent } = this.#terms;
    const beganMs = clock.monotonicMs();
    try {
      const beat = await store.heartbeat(this.epoch);
      if (beat === null) await this.#register();
      // The clock may have been ahead while only others had calls, and closed calls keep lower ids out.
      else this.ids.continueAbove(beat.lastCallId);
      this.#heardMs = beganMs;
      void this.#reap();
    } catch (error) {
      onEvent({ kind: 'failed', what: 'heartbeat', error });
    }
    this.#schedule(Math.max(0, LIMITS.instanceHeartbeatMs - (clock.monotonicMs() - beganMs)));
  }

  /** The holds of the previous epoch are void: their calls learn that when they settle, and are not charged. */
  async #register(): Promise<void> {
    this.#instance = await this.#terms.store.beginInstance();
    this.ids.continueAs(this.#instance.number);
    this.ids.continueAbove(this.#instance.lastCallId);
    const { replaced: reason } = this.#instance;
    const event = reason === null ? ({ kind: 'reregistered' } as const) : ({ kind: 'replaced', reason } as const);
    this.#terms.onEvent({ ...event, instance: this.#instance });
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
