import { ENDED, USAGE_SOURCE } from '../codes.ts';
import { fitsInt64, INT64_MAX, INT64_MIN } from '../int64.ts';
import type { CreditOperation, HoldOperation, LedgerOperation, SettleOperation, VoidOperation } from '../store.ts';

/**
 * A batch on its way to the writer: 64-bit words and the texts they point to. Copying this between threads costs a
 * tenth of copying the operations as objects, and the words are bound to the statements as they are. A word is a whole
 * 64-bit number where it is an id or an amount, and else the bits of a double, which is read and bound quicker.
 */
export interface BatchBuffer {
  readonly operations: number;
  readonly words: BigInt64Array;
  readonly texts: readonly string[];
  readonly blobs: readonly Uint8Array[];
}

export const HOLD = 1;
export const SETTLE = 2;
export const VOID = 3;
export const CREDIT = 4;
/** An operation that could not be written down; its text says why. */
export const UNWRITABLE = 5;
/** The same two with more in front, so that calls without an idempotency key carry nothing for it. */
export const KEYED_HOLD = 6;
export const KEPT_SETTLE = 7;

const NULL_WORD = INT64_MIN;
const NULL_NUMBER = Number.NaN;
const OPERATION_WORDS_MAX = 24;
const ENDED_NUMBER = numbersOf(ENDED.of);
const USAGE_SOURCE_NUMBER = numbersOf(USAGE_SOURCE.of);

function numbersOf<Word extends string>(codes: Readonly<Record<Word, bigint>>): Readonly<Record<Word, number>> {
  const numbers = Object.entries(codes).map(([word, code]) => [word, Number(code)]);
  return Object.fromEntries(numbers) as Record<Word, number>;
}

/** Where batchBuffers are written before they are cut to their length; one is written at a time. */
let room = new BigInt64Array(0);

function roomFor(operations: number): BigInt64Array {
  const words = operations * OPERATION_WORDS_MAX;
  if (room.length < words) room = new BigInt64Array(words);
  return room;
}

export function fillBatchBuffer(operations: readonly LedgerOperation[]): BatchBuffer {
  const writer = new TapeWriter(operations.length);
  for (const operation of operations) writer.write(operation);
  return writer.finish();
}

class TapeWriter {
  readonly #words: BigInt64Array;
  readonly #numbers: Float64Array;
  readonly #texts: string[] = [];
  readonly #textIndex = new Map<string, number>();
  readonly #blobs: Uint8Array[] = [];
  readonly #operations: number;
  #end = 0;

  constructor(operations: number) {
    this.#operations = operations;
    this.#words = roomFor(operations);
    this.#numbers = new Float64Array(this.#words.buffer);
  }

  finish(): BatchBuffer {
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
      this.#number(UNWRITABLE);
      this.#text(String(error));
    }
  }

  #hold(hold: HoldOperation): void {
    if (hold.idempotency === null) this.#number(HOLD);
    else {
      this.#number(KEYED_HOLD);
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
    this.#number(hold.stream ? 1 : 0);
    this.#text(hold.requestedModel);
    this.#text(hold.effectiveModel);
    this.#number(hold.priceId);
    this.#number(hold.createdMs);
    this.#text(hold.labels === null ? null : JSON.stringify(hold.labels));
  }

  #settle({ id, endedMs, settlement, kept }: SettleOperation): void {
    if (kept === null) this.#number(SETTLE);
    else {
      this.#number(KEPT_SETTLE);
      this.#blob(kept);
    }
    this.#put(id);
    this.#number(endedMs);
    this.#number(ENDED_NUMBER[settlement.ended]);
    this.#number(settlement.httpStatus);
    this.#number(USAGE_SOURCE_NUMBER[settlement.usageSource]);
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
      this.#nullNumber();
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
    this.#number(VOID);
    this.#put(operation.id);
    this.#text(operation.reason);
  }

  #credit(credit: CreditOperation): void {
    this.#number(CREDIT);
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
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no whole number that a double holds exactly.`);
    this.#numbers[this.#end++] = value;
  }

  #nullNumber(): void {
    this.#numbers[this.#end++] = NULL_NUMBER;
  }

  #nullable(word: bigint | null): void {
    if (word === null) this.#null();
    else this.#put(word);
  }

  #null(): void {
    this.#words[this.#end++] = NULL_WORD;
  }

  #blob(blob: Uint8Array): void {
    this.#numbers[this.#end++] = this.#blobs.push(blob) - 1;
  }

  #text(text: string | null): void {
    if (text === null) {
      this.#nullNumber();
      return;
    }
    let index = this.#textIndex.get(text);
    if (index === undefined) {
      index = this.#texts.push(text) - 1;
      this.#textIndex.set(text, index);
    }
    this.#numbers[this.#end++] = index;
  }
}

/** Reads a buffer from its start, word by word; who reads knows which words are numbers. */
export class BatchBufferReader {
  readonly operations: number;
  readonly #words: BigInt64Array;
  readonly #numbers: Float64Array;
  readonly #texts: readonly string[];
  readonly #blobs: readonly Uint8Array[];
  #next = 0;

  constructor({ operations, words, texts, blobs }: BatchBuffer) {
    this.operations = operations;
    this.#words = words;
    this.#numbers = new Float64Array(words.buffer, words.byteOffset, words.length);
    this.#texts = texts;
    this.#blobs = blobs;
  }

  word(): bigint {
    return this.#words[this.#next++]!;
  }

  nullable(): bigint | null {
    const word = this.word();
    return word === NULL_WORD ? null : word;
  }

  number(): number {
    return this.#numbers[this.#next++]!;
  }

  nullableNumber(): number | null {
    const number = this.number();
    return Number.isNaN(number) ? null : number;
  }

  text(): string | null {
    const index = this.nullableNumber();
    return index === null ? null : this.#texts[index]!;
  }

  blob(): Uint8Array {
    return this.#blobs[this.number()]!;
  }
}
