import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { CALL_STATE, ENDED, USAGE_SOURCE } from '../codes.ts';
import { INT64_MAX, INT64_MIN, isAmount } from '../int64.ts';
import type { CreditRefusal, HoldRefusal, IdempotencyMark, LedgerOutcome, SettleRefusal } from '../store.ts';
import {
  type BatchBufferReader,
  CREDIT,
  HOLD,
  KEPT_SETTLE,
  KEYED_HOLD,
  SETTLE,
  UNWRITABLE,
  VOID,
} from './batch-buffer.ts';
import type { Books, CallRow, KeyRule } from './books.ts';
import { IdempotencyKeys, type OwnKey } from './idempotency-keys.ts';

/**
 * The money's four verbs. Each is a ladder of named refusals in documented order and then writes: below the blank
 * line nothing is refused any more. What throws is a defect, never an outcome.
 */
export class Operations {
  readonly #books: Books;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #nameKey: StatementSync;
  readonly #settleCall: StatementSync;
  readonly #noteTries: StatementSync;
  readonly #voidCall: StatementSync;
  readonly #findCredit: StatementSync;
  readonly #insertCredit: StatementSync;

  constructor(database: DatabaseSync, books: Books) {
    this.#books = books;
    this.#idempotencyKeys = new IdempotencyKeys(database);
    this.#nameKey = database.prepare('UPDATE call SET idempotency_key = ? WHERE id = ?');
    this.#settleCall = database.prepare(`
      UPDATE call SET state = ${CALL_STATE.of.settled}, ended_ms = ?, ended = ?, http_status = ?, usage_source = ?,
        cost = ?, host = ?, attempts = ?, loss = ?, loss_reason = ?,
        fresh_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, cache_write_1h_tokens = ?,
        output_tokens = ?, reasoning_tokens = ?, fresh = ?, cache_write = ?, cache_read = ?, output = ?
      WHERE id = ? AND state = ${CALL_STATE.of.open}`);
    this.#noteTries = database.prepare('UPDATE call SET tries = ? WHERE id = ?');
    this.#voidCall = database.prepare(`
      UPDATE call SET state = ${CALL_STATE.of.voided}, ended_ms = ?, ended = ${ENDED.of.died},
        usage_source = ${USAGE_SOURCE.of.none}, attempts = 0, loss = held, loss_reason = ?
      WHERE id = ? AND state = ${CALL_STATE.of.open}`);
    this.#findCredit = database.prepare('SELECT amount FROM credit WHERE account_id = ? AND reference = ?');
    this.#insertCredit = database.prepare('INSERT INTO credit VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** Applies the operation that stands next on the buffer. */
  applyNext(buffer: BatchBufferReader): LedgerOutcome {
    const kind = buffer.number();
    if (kind === HOLD) return this.#hold(readHold(buffer), null);
    if (kind === SETTLE) return this.#settle(readSettle(buffer), null);
    if (kind === VOID) return this.void(buffer.word(), buffer.text()!);
    if (kind === CREDIT) return this.#credit(readCredit(buffer));
    if (kind === KEYED_HOLD) {
      const mark = { key: buffer.text()!, bodySha256: buffer.blob() };
      return this.#hold(readHold(buffer), mark);
    }
    if (kind === KEPT_SETTLE) {
      const kept = buffer.blob();
      return this.#settle(readSettle(buffer), kept);
    }
    if (kind === UNWRITABLE) return { kind: 'operation_failed', message: buffer.text()! };
    throw new Error(`No operation has the number ${kind}.`);
  }

  #hold(hold: HoldWords, mark: IdempotencyMark | null): LedgerOutcome {
    const { id, amount, accountId, keyId } = hold;
    const books = this.#books;
    if (amount < 0n || !isAmount(amount)) return holdRefused('out_of_range');
    if (hold.epoch !== books.epoch) return holdRefused('stale_epoch');
    const balance = books.balance(accountId);
    if (balance === null) return holdRefused('no_account');
    const key = keyId === null ? null : books.key(keyId);
    if (keyId !== null && !isActive(key, accountId, books.nowMs)) return holdRefused('key_inactive');
    const repeat = mark === null ? null : this.#idempotencyKeys.repeatOf(accountId, mark, books.nowMs);
    if (repeat !== null) return repeat;
    if (hold.ceiling !== null && amount > hold.ceiling) return holdRefused('cost_ceiling', hold.ceiling);
    const window = key === null ? null : books.currentWindow(key);
    if (window !== null && key !== null && key.cap !== null) {
      const left = key.cap - window.spent - window.held;
      if (amount > left) return holdRefused('key_cap', left > 0n ? left : 0n);
    }
    const available = balance.balance - balance.held;
    if (!balance.unlimited && amount > available) return holdRefused('balance', available);
    if (balance.spent + balance.held + amount > INT64_MAX) return holdRefused('out_of_range');
    if (available - amount < INT64_MIN) return holdRefused('out_of_range');

    const cells = this.#cellsOf(hold, window === null ? null : window.windowId);
    const idempotencyKey = mark === null ? null : mark.key;
    const state = CALL_STATE.of.open;
    books.addOpen({ id, state, balance, window, held: amount, cost: 0n, idempotencyKey }, cells);
    if (mark !== null) this.#takeKey(hold, mark);
    return HELD;
  }

  #takeKey({ id, accountId }: HoldWords, mark: IdempotencyMark): void {
    this.#books.writeNewCalls();
    this.#nameKey.run(mark.key, id);
    this.#idempotencyKeys.take(accountId, mark, id, this.#books.nowMs);
  }

  #cellsOf(hold: HoldWords, windowId: bigint | null): SQLInputValue[] {
    const books = this.#books;
    if (hold.id <= books.closedUpTo) throw new Error(`The books are closed beyond the id ${hold.id}.`);
    if (!books.hasPrice(hold.priceId)) throw new Error(`There is no price list ${hold.priceId}.`);
    const effective = books.nameId(hold.effectiveModel);
    const requested = hold.requestedModel === hold.effectiveModel ? effective : books.nameId(hold.requestedModel);
    return [
      hold.id,
      CALL_STATE.of.open,
      hold.epoch,
      hold.accountId,
      hold.keyId,
      windowId,
      hold.amount,
      hold.priceId,
      books.nameId(hold.route),
      hold.stream,
      requested,
      effective,
      hold.createdMs,
      hold.labels,
    ];
  }

  #settle(settle: SettleWords, kept: Uint8Array | null): LedgerOutcome {
    const { id, cost, parts } = settle;
    if (cost < 0n) return settleRefused('negative');
    if (!sumsTo(parts, cost)) return settleRefused('components_wrong');
    const call = this.#books.call(id);
    if (call === null) return settleRefused('no_hold');
    if (call.state === CALL_STATE.of.voided) return { kind: 'settle_found_void' };
    if (call.state === CALL_STATE.of.settled) return { kind: 'settle_repeated', costNanousd: call.cost };
    if (cost > call.held) return settleRefused('exceeds_hold');

    this.#writeSettled(settle);
    if (settle.tries !== null) this.#noteTries.run(settle.tries, id);
    const own = ownKey(call);
    if (own !== null) this.#idempotencyKeys.settle(own, cost, isAnswered(settle), kept);
    this.#books.endHold(call, cost);
    return SETTLED;
  }

  #writeSettled(settle: SettleWords): void {
    const { tokens, parts } = settle;
    this.#books.writeNewCalls();
    const { changes } = this.#settleCall.run(
      settle.endedMs,
      settle.ended,
      settle.httpStatus,
      settle.usageSource,
      settle.cost,
      settle.host === null ? null : this.#books.nameId(settle.host),
      settle.attempts,
      settle.loss,
      settle.lossReason,
      tokens[0]!,
      tokens[1]!,
      tokens[2]!,
      tokens[3]!,
      tokens[4]!,
      tokens[5]!,
      parts[0]!,
      parts[1]!,
      parts[2]!,
      parts[3]!,
      settle.id,
    );
    if (changes !== 1n) throw new Error(`Call ${settle.id} was not open.`);
  }

  void(id: bigint, reason: string): LedgerOutcome {
    const call = this.#books.call(id);
    if (call === null || call.state !== CALL_STATE.of.open) return { kind: 'void_not_open' };

    this.#books.writeNewCalls();
    const { changes } = this.#voidCall.run(this.#books.nowMs, reason, id);
    if (changes !== 1n) throw new Error(`Call ${id} was not open.`);
    const own = ownKey(call);
    if (own !== null) this.#idempotencyKeys.lose(own);
    this.#books.endHold(call, 0n);
    return { kind: 'voided' };
  }

  #credit({ id, accountId, amount, reference, note, createdMs }: CreditWords): LedgerOutcome {
    if (amount === 0n) return creditRefused('zero');
    if (!isAmount(amount)) return creditRefused('out_of_range');
    const row = this.#books.balance(accountId);
    if (row === null) return creditRefused('no_account');
    const before = this.#findCredit.get(accountId, reference)?.amount;
    if (before === amount) return { kind: 'credit_repeated', balanceNanousd: row.balance };
    if (before !== undefined) return creditRefused('reference_differs');
    const balance = row.balance + amount;
    if (!row.unlimited && amount < 0n && balance < row.held) return creditRefused('exceeds_available');
    if (balance > INT64_MAX || balance - row.held < INT64_MIN) return creditRefused('out_of_range');

    this.#insertCredit.run(id, accountId, reference, amount, note, createdMs);
    row.balance = balance;
    this.#books.touchBalance(row);
    return { kind: 'credited', balanceNanousd: balance };
  }
}

const HELD: LedgerOutcome = { kind: 'held' };
const SETTLED: LedgerOutcome = { kind: 'settled' };

function holdRefused(reason: HoldRefusal, availableNanousd: bigint | null = null): LedgerOutcome {
  return { kind: 'hold_refused', reason, availableNanousd };
}

function settleRefused(reason: SettleRefusal): LedgerOutcome {
  return { kind: 'settle_refused', reason };
}

function creditRefused(reason: CreditRefusal): LedgerOutcome {
  return { kind: 'credit_refused', reason };
}

function ownKey({ id, balance, idempotencyKey }: CallRow): OwnKey | null {
  return idempotencyKey === null ? null : { accountId: balance.accountId, key: idempotencyKey, callId: id };
}

const COMPLETE = Number(ENDED.of.complete);

function isAnswered({ ended, tokens }: SettleWords): boolean {
  return ended === COMPLETE || tokens !== NO_TOKENS;
}

function isActive(key: KeyRule | null, accountId: bigint, nowMs: bigint): boolean {
  if (key === null || key.accountId !== accountId || key.revokedMs !== null) return false;
  return key.expiresMs === null || key.expiresMs > nowMs;
}

type Tokens = readonly (number | null)[];
type Parts = readonly (bigint | null)[];
const NO_TOKENS: Tokens = [null, null, null, null, null, null];
const NO_PARTS: Parts = [null, null, null, null];

/** The parts of a cost, if they are known, are never negative and make up the whole. */
function sumsTo(parts: Parts, cost: bigint): boolean {
  if (parts === NO_PARTS) return true;
  let sum = 0n;
  for (const part of parts) {
    if (part === null || part < 0n) return false;
    sum += part;
  }
  return sum === cost;
}

type HoldWords = ReturnType<typeof readHold>;
type SettleWords = ReturnType<typeof readSettle>;
type CreditWords = ReturnType<typeof readCredit>;

/** Members stand in the order of the buffer. */
function readHold(buffer: BatchBufferReader) {
  return {
    id: buffer.word(),
    epoch: buffer.word(),
    accountId: buffer.word(),
    keyId: buffer.nullable(),
    amount: buffer.word(),
    ceiling: buffer.nullable(),
    route: buffer.text()!,
    stream: buffer.number(),
    requestedModel: buffer.text()!,
    effectiveModel: buffer.text()!,
    priceId: buffer.number(),
    createdMs: buffer.number(),
    labels: buffer.text(),
  };
}

function readSettle(buffer: BatchBufferReader) {
  return {
    id: buffer.word(),
    endedMs: buffer.number(),
    ended: buffer.number(),
    httpStatus: buffer.number(),
    usageSource: buffer.number(),
    cost: buffer.word(),
    host: buffer.text(),
    attempts: buffer.number(),
    tries: buffer.text(),
    loss: buffer.word(),
    lossReason: buffer.text(),
    tokens: readTokens(buffer),
    parts: readParts(buffer),
  };
}

/** All of them are there, or one null stands for all of them. */
function readTokens(buffer: BatchBufferReader): Tokens {
  const fresh = buffer.nullableNumber();
  if (fresh === null) return NO_TOKENS;
  return [fresh, buffer.number(), buffer.number(), buffer.number(), buffer.number(), buffer.number()];
}

function readParts(buffer: BatchBufferReader): Parts {
  const fresh = buffer.nullable();
  return fresh === null ? NO_PARTS : [fresh, buffer.word(), buffer.word(), buffer.word()];
}

function readCredit(buffer: BatchBufferReader) {
  return {
    id: buffer.word(),
    accountId: buffer.word(),
    amount: buffer.word(),
    reference: buffer.text()!,
    note: buffer.text(),
    createdMs: buffer.number(),
  };
}
