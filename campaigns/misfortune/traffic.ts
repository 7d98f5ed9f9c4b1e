import type { SimScript } from '../../src/sim/sim.ts';
import type { Random } from '../../test/random.ts';
import { type ClientCall, Load } from '../kill/load.ts';
import type { Key } from '../kill/world.ts';
import type { Upstream } from './upstream.ts';

interface TrafficTerms {
  readonly url: string;
  readonly keys: readonly Key[];
  readonly upstream: Upstream;
  /** Makes labels and gates unique. */
  readonly name: string;
  readonly random: Random;
  readonly clients?: number;
  readonly callsMax?: number;
  readonly models?: readonly string[];
}

const CLIENTS = 8;
/** These clients' hosts do not answer until the traffic ends, so that there are always open holds. */
const WAITING_CLIENTS = 2;
const CALLS_MAX = 160;
const FAILURE_PAUSE_MS = 25;
const WORDS_MAX = 20;

/** Clients that call again and again, half of them with streams, until the round has seen enough. */
export class Traffic {
  readonly load: Load;
  readonly #terms: TrafficTerms;
  readonly #gate: string;
  readonly #callsMax: number;
  readonly #waiting = new Set<{ at: number; done(): void }>();
  #events = 0;

  constructor(terms: TrafficTerms) {
    const { url, keys, name, random, clients = CLIENTS, callsMax = CALLS_MAX, models } = terms;
    this.#terms = terms;
    this.#gate = `${name}-gate`;
    this.#callsMax = callsMax;
    const count = (): void => this.#count();
    this.load = new Load({
      url,
      keys,
      clients,
      name,
      repeat: true,
      callsMax,
      failurePauseMs: FAILURE_PAUSE_MS,
      script: (_, client) => this.#script(client),
      ...(models && { model: () => random.pick(models) }),
      onEvent: count,
      onClosed: count,
    });
  }

  get calls(): readonly ClientCall[] {
    return this.load.calls;
  }

  /** Calls whose last byte has arrived. */
  get seen(): ClientCall[] {
    return this.calls.filter(({ costNanousd }) => costNanousd !== null);
  }

  /** Resolves after this many more pieces, ends and failures of responses, or if no further call will be made. */
  reached(events: number): Promise<void> {
    return new Promise((done) => {
      this.#waiting.add({ at: this.#events + events, done });
      this.#wake();
    });
  }

  /** Makes no new calls and lets every host answer; resolves when every call has ended. */
  async end(): Promise<void> {
    this.load.cease();
    await this.#terms.upstream.release(this.#gate, this.#callsMax);
    await this.load.finished;
  }

  #script(client: number): SimScript {
    const script: SimScript = { words: this.#terms.random.between(1, WORDS_MAX), chunkDelayMs: 0 };
    return client < WAITING_CLIENTS ? { ...script, gateHead: this.#gate } : script;
  }

  #count(): void {
    this.#events++;
    this.#wake();
  }

  #wake(): void {
    for (const waiting of this.#waiting) {
      if (waiting.at > this.#events && this.calls.length < this.#callsMax) continue;
      this.#waiting.delete(waiting);
      waiting.done();
    }
  }
}
