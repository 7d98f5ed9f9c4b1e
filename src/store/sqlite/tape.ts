import { ENDED, USAGE_SOURCE } from '../codes.ts';
import { fitsInt64, INT64_MAX, INT64_MIN } from '../int64.ts';
import type { CreditOperation, HoldOperation, LedgerOperation, SettleOperation, VoidOperation } from '../store.ts';

/**
 * A batch on its way to the writer: 64-bit words and the texts they point to. Copying this between threads costs a
 * tenth of copying the operations as objects, and the words are bound to the statements as they are.
 */
export interface Tape {
  readonly operations: number;
  readonly words: BigInt64Array;
  readonly texts: readonly string[];
  readonly blobs: readonly Uint8Array[];
}

export const HOLD = 1n;
export const SETTLE = 2n;
export const VOID = 3n;
export const CREDIT = 4n;
/** An operation that could not be written down; its text says why. */
export const UNWRITABLE = 5n;
/** The same two with more in front, so that calls without an idempotency key carry nothing for it. */
export const KEYED_HOLD = 6n;
export const KEPT_SETTLE = 7n;

const NULL_WORD = INT64_MIN;
const OPERATION_WORDS_MAX = 24;
const ONE_WORD = 1n;
const ZERO_WORD = 0n;

export function writeTape(operations: readonly LedgerOperation[]): Tape {
  const writer = new TapeWriter(operations.length);
  for (const operation of operations) writer.write(operation);
  return writer.finish();
}

class TapeWriter {
  readonly #words: BigInt64Array;
  readonly #texts: string[] = [];
  readonly #textIndex = new Map<string, bigint>();
  readonly #blobs: Uint8Array[] = [];
  readonly #operations: number;
  #end = 0;

  constructor(operations: number) {
    this.#operations = operations;
    this.#words = new BigInt64Array(operations * OPERATION_WORDS_MAX);
  }

  finish(): Tape {
    return {
      operations: this.#operations,
      words: this.#words.slice(0, this.#end),
      texts: this.#texts,
      blobs: this.#blobs,
    };
  }

  write(operation: LedgerOperation): void {
    const start = this.#end;
    try {
      if (operation.kind === 'hold') this.#hold(operation);
      else if (operation.kind === 'settle') this.#settle(operation);
      else if (operation.kind === 'void') this.#void(operation);
      else this.#credit(operation);
    } catch (error) {
      this.#end = start;
      this.#put(UNWRITABLE);
      this.#text(String(error));
    }
  }

  #hold(hold: HoldOperation): void {
    if (hold.idempotency === null) this.#put(HOLD);
    else {
      this.#put(KEYED_HOLD);
      this.#text(hold.idempotency.key);
      this.#blob(hold.idempotency.bodySha256);
    }
    this.#put(hold.id);
    this.#put(hold.epoch);
    this.#put(hold.accountId);
    this.#nullable(hold.keyId);
    this.#clamped(hold.amountNanousd);
    if (hold.ceilingNanousd === null) this.#null();
    else this.#clamped(hold.ceilingNanousd);
    this.#text(hold.route);
    this.#put(hold.stream ? ONE_WORD : ZERO_WORD);
    this.#text(hold.requestedModel);
    this.#text(hold.effectiveModel);
    this.#number(hold.priceId);
    this.#number(hold.createdMs);
    this.#text(hold.labels === null ? null : JSON.stringify(hold.labels));
  }

  #settle({ id, endedMs, settlement, kept }: SettleOperation): void {
    if (kept === null) this.#put(SETTLE);
    else {
      this.#put(KEPT_SETTLE);
      this.#blob(kept);
    }
    this.#put(id);
    this.#number(endedMs);
    this.#put(ENDED.of[settlement.ended]);
    this.#number(settlement.httpStatus);
    this.#put(USAGE_SOURCE.of[settlement.usageSource]);
    this.#clamped(settlement.costNanousd);
    this.#text(settlement.host);
    this.#number(settlement.attempts);
    this.#text(settlement.tries === null ? null : JSON.stringify(settlement.tries));
    this.#put(settlement.lossNanousd);
    this.#text(settlement.lossReason);
    this.#usage(settlement);
    this.#components(settlement);
  }

  #usage({ usage }: SettleOperation['settlement']): void {
    if (usage === null) {
      this.#null();
      return;
    }
    this.#number(usage.freshTokens);
    this.#number(usage.cacheReadTokens);
    this.#number(usage.cacheWriteTokens);
    this.#number(usage.cacheWrite1hTokens);
    this.#number(usage.outputTokens);
    this.#number(usage.reasoningTokens);
  }

  #components({ components }: SettleOperation['settlement']): void {
    if (components === null) {
      this.#null();
      return;
    }
    this.#clamped(components.freshNanousd);
    this.#clamped(components.cacheWriteNanousd);
    this.#clamped(components.cacheReadNanousd);
    this.#clamped(components.outputNanousd);
  }

  #void(operation: VoidOperation): void {
    this.#put(VOID);
    this.#put(operation.id);
    this.#text(operation.reason);
  }

  #credit(credit: CreditOperation): void {
    this.#put(CREDIT);
    this.#put(credit.id);
    this.#put(credit.accountId);
    this.#clamped(credit.amountNanousd);
    this.#text(credit.reference);
    this.#text(credit.note);
    this.#number(credit.createdMs);
  }

  #put(word: bigint): void {
    if (word === NULL_WORD || !fitsInt64(word)) throw new RangeError(`${word} does not fit 64 bits.`);
    this.#words[this.#end++] = word;
  }

  /** For amounts that the ladders refuse by comparing: beyond 64 bits, the bound itself compares alike. */
  #clamped(word: bigint): void {
    this.#words[this.#end++] = word > INT64_MAX ? INT64_MAX : word < -INT64_MAX ? -INT64_MAX : word;
  }

  #number(value: number): void {
    this.#words[this.#end++] = BigInt(value);
  }

  #nullable(word: bigint | null): void {
    if (word === null) this.#null();
    else this.#put(word);
  }

  #null(): void {
    this.#words[this.#end++] = NULL_WORD;
  }

  #blob(blob: Uint8Array): void {
    this.#words[this.#end++] = BigInt(this.#blobs.push(blob) - 1);
  }

  #text(text: string | null): void {
    if (text === null) {
      this.#null();
      return;
    }
    let index = this.#textIndex.get(text);
    if (index === undefined) {
      index = BigInt(this.#texts.push(text) - 1);
      this.#textIndex.set(text, index);
    }
    this.#words[this.#end++] = index;
  }
}

/** Reads a tape from its start, word by word. */
export class TapeReader {
  readonly operations: number;
  readonly #words: BigInt64Array;
  readonly #texts: readonly string[];
  readonly #blobs: readonly Uint8Array[];
  #next = 0;

  constructor(tape: Tape) {
    this.operations = tape.operations;
    this.#words = tape.words;
    this.#texts = tape.texts;
    this.#blobs = tape.blobs;
  }

  word(): bigint {
    return this.#words[this.#next++]!;
  }

  nullable(): bigint | null {
    const word = this.word();
    return word === NULL_WORD ? null : word;
  }

  text(): string | null {
    const index = this.nullable();
    return index === null ? null : this.#texts[Number(index)]!;
  }

  blob(): Uint8Array {
    return this.#blobs[Number(this.word())]!;
  }
}
