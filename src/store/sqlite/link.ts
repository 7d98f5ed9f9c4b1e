import { StoreUnavailable, StoreVanished } from '../store.ts';
import { isBroken } from './batch.ts';
import { describeFault } from './faults.ts';
import { DatabaseVanished } from './file-watch.ts';

/** Functions that one side runs for another; arguments and results are plain data. */
export type AnyVerbs = { [name: string]: (...args: never[]) => unknown };

/** Calls of one function by several clients that can be run at once. */
export interface Together {
  readonly verb: string;
  /** Takes the arguments of each call, and returns a result for each. */
  run(calls: readonly unknown[][]): unknown[];
}

export interface Served<Verbs extends AnyVerbs> {
  readonly verbs: Verbs;
  readonly together?: Together;
  /** Called once a second by a thread; a command ends too soon to need it. */
  tick?(): void;
  end(): void;
}

/** The calling side of such functions, wherever they run. */
export interface Link<Verbs extends AnyVerbs> {
  /** Why the other side no longer works; null while it does. */
  readonly broken: StoreUnavailable | null;
  call<Verb extends keyof Verbs & string>(
    verb: Verb,
    ...args: Parameters<Verbs[Verb]>
  ): Promise<ReturnType<Verbs[Verb]>>;
  /** Finishes pending calls, then ends. */
  end(): Promise<void>;
}

/** Why a store broke, as plain data. */
export interface Fault {
  readonly message: string;
  readonly vanished: boolean;
}

export function faultOf(error: unknown): Fault {
  const message = describeFault(error) ?? (error instanceof Error ? error.message : String(error));
  return { message, vanished: error instanceof DatabaseVanished };
}

export function unavailable({ message, vanished }: Fault): StoreUnavailable {
  return vanished ? new StoreVanished(message) : new StoreUnavailable(message);
}

/**
 * Runs the functions in this thread: for commands that do one thing and exit, and for small tests. Arguments and results
 * are copied, as between threads, so that what works here works there.
 */
export class InlineLink<Verbs extends AnyVerbs> implements Link<Verbs> {
  readonly #served: Served<Verbs>;
  readonly #onBroken: (error: StoreUnavailable) => void;
  #broken: StoreUnavailable | null = null;
  #ended = false;

  constructor(served: Served<Verbs>, onBroken: (error: StoreUnavailable) => void) {
    this.#served = served;
    this.#onBroken = onBroken;
  }

  get broken(): StoreUnavailable | null {
    return this.#broken;
  }

  async call<Verb extends keyof Verbs & string>(
    verb: Verb,
    ...args: Parameters<Verbs[Verb]>
  ): Promise<ReturnType<Verbs[Verb]>> {
    if (this.#broken !== null) throw this.#broken;
    if (this.#ended) throw new StoreUnavailable('The store is closed.');
    try {
      return structuredClone(this.#served.verbs[verb]!(...structuredClone(args)) as ReturnType<Verbs[Verb]>);
    } catch (error) {
      if (!isBroken(error)) throw error;
      this.#broken = unavailable(faultOf(error));
      this.#onBroken(this.#broken);
      throw this.#broken;
    }
  }

  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#served.end();
  }
}
