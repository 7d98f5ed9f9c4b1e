import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';

/** Statements that are used again and again, prepared once. The one that was not used for the longest time goes first. */
export class StatementCache {
  readonly #database: DatabaseSync;
  readonly #most: number;
  readonly #byText = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, most: number = LIMITS.statementsKept) {
    this.#database = database;
    this.#most = most;
  }

  prepare(text: string): StatementSync {
    const statement = this.#byText.get(text) ?? this.#database.prepare(text);
    // A map keeps its keys in the order of insertion, so the first one is the oldest.
    this.#byText.delete(text);
    this.#byText.set(text, statement);
    if (this.#byText.size > this.#most) this.#byText.delete(this.#byText.keys().next().value!);
    return statement;
  }
}
