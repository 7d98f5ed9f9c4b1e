import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import type { TextMeasure } from './measure-text.ts';

/** The measures of one text: one, or one per rendering of a tool. */
export type Measures = readonly TextMeasure[];

/**
 * Remembers the measures of texts, so that the next turn of a conversation measures only what is new. It stores digests
 * under a key of this process, never texts. Each account has its own entries: with shared ones, the time of a call would
 * tell what others have sent.
 */
export class CountMemory {
  readonly #key = createSecretKey(randomBytes(32));
  /** Both maps are ordered by use, the oldest first. */
  readonly #accounts = new Map<string, Map<string, Measures>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Identifies a text, for `find` and `keep`. `kind` is the tokenizer and how it is used. */
  digest(kind: string, account: string, text: string): string {
    return createHmac('sha256', this.#key).update(`${kind}\n${account}\n`).update(text).digest('base64');
  }

  find(account: string, digest: string): Measures | undefined {
    const entries = this.#accounts.get(account);
    const found = entries?.get(digest);
    if (entries === undefined || found === undefined) return undefined;
    touch(entries, digest, found);
    touch(this.#accounts, account, entries);
    return found;
  }

  keep(account: string, digest: string, measures: Measures): void {
    const entries = this.#accounts.get(account) ?? new Map<string, Measures>();
    if (!entries.has(digest)) this.#size++;
    touch(entries, digest, measures);
    touch(this.#accounts, account, entries);
    if (entries.size > LIMITS.tokenCountsKeptPerAccount) this.#forgetOldest(account, entries);
    if (this.#size > LIMITS.tokenCountsKept) {
      const [oldest] = this.#accounts;
      this.#forgetOldest(...oldest!);
    }
  }

  #forgetOldest(account: string, entries: Map<string, Measures>): void {
    const [oldest] = entries.keys();
    entries.delete(oldest!);
    this.#size--;
    if (entries.size === 0) this.#accounts.delete(account);
  }
}

function touch<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}
