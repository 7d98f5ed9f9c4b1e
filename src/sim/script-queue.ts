import { LIMITS } from '../limits.ts';
import { NO_FAULTS, type SimScript } from './script.ts';

export interface ScriptOptions {
  /** For this many calls; without it the script stays until it is replaced or removed. */
  times?: number;
  /** Only for calls of this model. */
  model?: string;
}

interface CountedScript {
  readonly script: SimScript;
  readonly model: string | undefined;
  timesLeft: number;
}

/**
 * Chooses the script of the next call: the first counted script that fits, in the order they were given; then the
 * standing script of its model; then the standing script of all models.
 */
export class ScriptQueue {
  #counted: CountedScript[] = [];
  readonly #standing = new Map<string | undefined, SimScript>();

  add(script: SimScript, options: ScriptOptions): void {
    if (options.times === undefined) {
      this.#standing.set(options.model, script);
    } else {
      this.#counted.push({ script, model: options.model, timesLeft: options.times });
    }
    if (this.#counted.length + this.#standing.size > LIMITS.simScriptsMax) throw new RangeError('Too many scripts.');
  }

  /** Removes every script of the model, or every script if none is named. */
  withdraw(model: string | undefined): void {
    if (model === undefined) {
      this.clear();
      return;
    }
    this.#standing.delete(model);
    this.#counted = this.#counted.filter((entry) => entry.model !== model);
  }

  clear(): void {
    this.#standing.clear();
    this.#counted = [];
  }

  take(model: string | null): SimScript {
    const entry = this.#counted.find((one) => one.model === undefined || one.model === model);
    if (entry !== undefined) return this.#use(entry);
    return this.#standing.get(model ?? undefined) ?? this.#standing.get(undefined) ?? NO_FAULTS;
  }

  #use(entry: CountedScript): SimScript {
    entry.timesLeft--;
    if (entry.timesLeft <= 0) this.#counted = this.#counted.filter((other) => other !== entry);
    return entry.script;
  }
}
