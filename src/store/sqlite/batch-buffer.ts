import { CALL_FIELDS, SETTLEMENT_FIELDS } from '../../canonical/receipt.ts';
import { columnNames } from '../field-kinds.ts';
import { fitsInt64, INT64_MAX, INT64_MIN } from '../int64.ts';
import type { JobEnd, ReleaseOperation, ReserveOperation } from '../jobs.ts';
import {
  AUDIT_FIELDS,
  CREDIT_FIELDS,
  HOLD_TERMS,
  JOB_END_FIELDS,
  RELEASE_FIELDS,
  RESERVE_FIELDS,
  SETTLE_TERMS,
  VOID_FIELDS,
} from '../operation-fields.ts';
import type { AuditRow } from '../people.ts';
import type { CreditOperation, HoldOperation, LedgerOperation, SettleOperation, VoidOperation } from '../store.ts';
import { compileReader, compileWriter, type WordReader, type WordWriter } from './compile-fields.ts';

/**
 * A batch on its way to the writer thread: 64-bit words, and the texts they point to. Copying this between threads costs
 * a tenth of copying the operations as objects, and the words are bound to the statements as they are. A word is a 64-bit
 * integer if it is an id or an amount, and otherwise the bits of a double, which is faster to read and bind.
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
/** An operation that could not be encoded; its text says why. */
export const UNWRITABLE = 5;
/** A hold and a settlement, each preceded by the data of an idempotency key. */
export const KEYED_HOLD = 6;
export const KEPT_SETTLE = 7;
/** A credit, followed by its row of the audit. */
export const AUDITED_CREDIT = 8;
/** A hold preceded by the job that it starts, and a settlement preceded by how it ends the attempt. */
export const START = 9;
export const JOB_SETTLE = 10;
/** A reservation, if need be preceded by the data of an idempotency key. */
export const RESERVE = 11;
export const KEYED_RESERVE = 12;
export const RELEASE = 13;

const NULL_WORD = INT64_MIN;
const NULL_NUMBER = Number.NaN;

const HOLD_FIELDS = { ...HOLD_TERMS, ...CALL_FIELDS };

/** The largest operation: its kind, two words of an idempotency key, and every field. */
const OPERATION_WORDS_MAX =
  3 +
  Math.max(
    columnNames(HOLD_FIELDS).length,
    columnNames(JOB_END_FIELDS).length + columnNames(SETTLE_TERMS).length + columnNames(SETTLEMENT_FIELDS).length,
    columnNames(CREDIT_FIELDS).length + columnNames(AUDIT_FIELDS).length,
  );

/** Scratch space in which a buffer is written before it is copied at its final length; one is written at a time. */
let room = new BigInt64Array(0);

function roomFor(operations: number): BigInt64Array {
  const words = operations * OPERATION_WORDS_MAX;
  if (room.length < words) room = new BigInt64Array(words);
  return room;
}

export function fillBatchBuffer(operations: readonly LedgerOperation[]): BatchBuffer {
  const writer = new BatchBufferWriter(operations.length);
  for (const operation of operations) writer.write(operation);
  return writer.finish();
}

class BatchBufferWriter implements WordWriter {
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
      else if (operation.kind === 'void') {
        this.integer(VOID);
        writeVoid(this, operation);
      } else if (operation.kind === 'credit') this.#credit(operation);
      else if (operation.kind === 'reserve') this.#reserve(operation);
      else {
        this.integer(RELEASE);
        writeRelease(this, operation);
      }
    } catch (error) {
      this.#end = start;
      this.integer(UNWRITABLE);
      this.text(String(error));
    }
  }

  #hold(hold: HoldOperation): void {
    if (hold.job !== undefined) {
      this.integer(START);
      this.int64(hold.job.id);
      this.integer(hold.job.claim);
    } else if (hold.idempotency === null) this.integer(HOLD);
    else {
      this.integer(KEYED_HOLD);
      this.text(hold.idempotency.key);
      this.#blob(hold.idempotency.bodySha256);
    }
    writeHold(this, hold);
  }

  #settle(settle: SettleOperation): void {
    if (settle.job !== undefined) {
      this.integer(JOB_SETTLE);
      writeJobEnd(this, settle.job);
    } else if (settle.kept === null) this.integer(SETTLE);
    else {
      this.integer(KEPT_SETTLE);
      this.#blob(settle.kept);
    }
    writeSettle(this, settle);
    writeSettlement(this, settle.settlement);
  }

  #credit(credit: CreditOperation): void {
    this.integer(credit.audit === undefined ? CREDIT : AUDITED_CREDIT);
    writeCredit(this, credit);
    if (credit.audit !== undefined) writeAudit(this, credit.audit);
  }

  #reserve(reserve: ReserveOperation): void {
    if (reserve.idempotency === null) this.integer(RESERVE);
    else {
      this.integer(KEYED_RESERVE);
      this.text(reserve.idempotency.key);
      this.#blob(reserve.idempotency.bodySha256);
    }
    writeReserve(this, reserve);
  }

  int64(word: bigint): void {
    if (word === NULL_WORD || !fitsInt64(word)) throw new RangeError(`${word} does not fit 64 bits.`);
    this.#words[this.#end++] = word;
  }

  /** The money rules refuse an amount beyond 64 bits by comparing it, and the bound compares the same way. */
  amount(word: bigint): void {
    this.#words[this.#end++] = word > INT64_MAX ? INT64_MAX : word < -INT64_MAX ? -INT64_MAX : word;
  }

  integer(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an integer that a double holds exactly.`);
    this.#numbers[this.#end++] = value;
  }

  text(text: string): void {
    let index = this.#textIndex.get(text);
    if (index === undefined) {
      index = this.#texts.push(text) - 1;
      this.#textIndex.set(text, index);
    }
    this.#numbers[this.#end++] = index;
  }

  nullWord(): void {
    this.#words[this.#end++] = NULL_WORD;
  }

  nullNumber(): void {
    this.#numbers[this.#end++] = NULL_NUMBER;
  }

  #blob(blob: Uint8Array): void {
    this.#numbers[this.#end++] = this.#blobs.push(blob) - 1;
  }
}

const writeHold = compileWriter<BatchBufferWriter, HoldOperation>(HOLD_FIELDS);
const writeSettle = compileWriter<BatchBufferWriter, SettleOperation>(SETTLE_TERMS);
const writeSettlement = compileWriter<BatchBufferWriter, SettleOperation['settlement']>(SETTLEMENT_FIELDS);
const writeVoid = compileWriter<BatchBufferWriter, VoidOperation>(VOID_FIELDS);
const writeCredit = compileWriter<BatchBufferWriter, CreditOperation>(CREDIT_FIELDS);
const writeReserve = compileWriter<BatchBufferWriter, ReserveOperation>(RESERVE_FIELDS);
const writeRelease = compileWriter<BatchBufferWriter, ReleaseOperation>(RELEASE_FIELDS);
const writeJobEnd = compileWriter<BatchBufferWriter, JobEnd>(JOB_END_FIELDS);
const writeAudit = compileWriter<BatchBufferWriter, AuditRow>(AUDIT_FIELDS);

/** Reads a buffer from its start, word by word; the caller knows what each word is. */
export class BatchBufferReader implements WordReader {
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

  int64(): bigint {
    return this.#words[this.#next++]!;
  }

  nullableInt64(): bigint | null {
    const word = this.int64();
    return word === NULL_WORD ? null : word;
  }

  integer(): number {
    return this.#numbers[this.#next++]!;
  }

  nullableInteger(): number | null {
    const number = this.integer();
    return Number.isNaN(number) ? null : number;
  }

  text(): string {
    return this.#texts[this.integer()]!;
  }

  nullableText(): string | null {
    const index = this.nullableInteger();
    return index === null ? null : this.#texts[index]!;
  }

  blob(): Uint8Array {
    return this.#blobs[this.integer()]!;
  }
}

export const readHold = compileReader(HOLD_FIELDS);
export const readSettle = compileReader(SETTLE_TERMS);
export const readSettlement = compileReader(SETTLEMENT_FIELDS);
export const readVoid = compileReader(VOID_FIELDS);
export const readCredit = compileReader(CREDIT_FIELDS);
export const readReserve = compileReader(RESERVE_FIELDS);
export const readRelease = compileReader(RELEASE_FIELDS);
export const readJobEnd = compileReader(JOB_END_FIELDS);
export const readAudit = compileReader(AUDIT_FIELDS);
