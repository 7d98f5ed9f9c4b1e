import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SETTLEMENT_FIELDS } from '../../canonical/receipt.ts';
import { ACCOUNT_STATUS, CALL_STATE, ENDED, USAGE_SOURCE } from '../codes.ts';
import { columnNames } from '../field-kinds.ts';
import { INT64_MAX, INT64_MIN, isAmount } from '../int64.ts';
import { addLoss, isLossUsedUp, type LossHour, lossAt, noteLoss } from '../loss-allowance.ts';
import type { AuditRow } from '../people.ts';
import { writeAudit } from '../programs/audit.ts';
import type { CreditRefusal, IdempotencyMark, LedgerOutcome, RefundRefusal, SettleRefusal } from '../store.ts';
import {
  AUDITED_CREDIT,
  type BatchBufferReader,
  CREDIT,
  HOLD,
  JOB_SETTLE,
  KEPT_SETTLE,
  KEYED_HOLD,
  KEYED_RESERVE,
  RELEASE,
  RESERVE,
  readAudit,
  readCredit,
  readHold,
  readJobEnd,
  readRelease,
  readReserve,
  readSettle,
  readSettlement,
  readVoid,
  SETTLE,
  START,
  UNWRITABLE,
  VOID,
} from './batch-buffer.ts';
import type { CallRow } from './cached-rows.ts';
import { compileRun } from './compile-fields.ts';
import { runProgram } from './directory.ts';
import { callCells, holdRefused, ownerOf, roomFor, type StoredHold } from './hold-checks.ts';
import { IdempotencyKeys, type OwnKey } from './idempotency-keys.ts';
import { JobOperations } from './job-operations.ts';
import type { RowCache } from './row-cache.ts';

/**
 * The operations on money. Each is a list of named refusals in documented order, then a blank line, then writes:
 * after the blank line nothing is refused. An exception is a defect, never an outcome.
 */
export class Operations {
  readonly #database: DatabaseSync;
  readonly #cache: RowCache;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #jobs: JobOperations;
  readonly #nameKey: StatementSync;
  readonly #settleCall: StatementSync;
  readonly #voidCall: StatementSync;
  readonly #findCredit: StatementSync;
  readonly #sumRefunds: StatementSync;
  readonly #insertCredit: StatementSync;

  constructor(database: DatabaseSync, cache: RowCache) {
    this.#database = database;
    this.#cache = cache;
    this.#idempotencyKeys = new IdempotencyKeys(database);
    this.#jobs = new JobOperations(database, cache, this.#idempotencyKeys);
    this.#nameKey = database.prepare('UPDATE call SET idempotency_key = ? WHERE id = ?');
    const settled = ['ended_ms', ...columnNames(SETTLEMENT_FIELDS)].map((column) => `${column} = ?`);
    this.#settleCall = database.prepare(`
      UPDATE call SET state = ${CALL_STATE.of.settled}, ${settled.join(', ')}
      WHERE id = ? AND state = ${CALL_STATE.of.open}`);
    this.#voidCall = database.prepare(`
      UPDATE call SET state = ${CALL_STATE.of.voided}, ended_ms = ?, ended = ${ENDED.of.died},
        usage_source = ${USAGE_SOURCE.of.none}, attempts = 0, loss = held, loss_reason = ?
      WHERE id = ? AND state = ${CALL_STATE.of.open}`);
    this.#findCredit = database.prepare('SELECT amount, call_id FROM credit WHERE account_id = ? AND reference = ?');
    this.#sumRefunds = database.prepare('SELECT coalesce(sum(amount), 0) AS refunded FROM credit WHERE call_id = ?');
    const columns = 'id, account_id, reference, amount, note, created_ms, call_id';
    this.#insertCredit = database.prepare(`INSERT INTO credit (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  }

  /** Applies the next operation in the buffer. */
  applyNext(buffer: BatchBufferReader): LedgerOutcome {
    const kind = buffer.integer();
    if (kind === HOLD) return this.#hold(readHold(buffer), null);
    if (kind === SETTLE) return this.#settle(readSettle(buffer), readSettlement(buffer), null);
    if (kind === VOID) {
      const { id, reason } = readVoid(buffer);
      return this.void(id, reason);
    }
    if (kind === CREDIT) return this.#credit(readCredit(buffer));
    if (kind === AUDITED_CREDIT) {
      const credit = readCredit(buffer);
      return this.#auditedCredit(credit, readAudit(buffer));
    }
    if (kind === KEYED_HOLD) {
      const mark = { key: buffer.text(), bodySha256: buffer.blob() };
      return this.#hold(readHold(buffer), mark);
    }
    if (kind === KEPT_SETTLE) {
      const kept = buffer.blob();
      return this.#settle(readSettle(buffer), readSettlement(buffer), kept);
    }
    return this.#applyToJob(kind, buffer);
  }

  #applyToJob(kind: number, buffer: BatchBufferReader): LedgerOutcome {
    if (kind === START) {
      const [id, claim] = [buffer.int64(), buffer.integer()];
      return this.#jobs.start(readHold(buffer), id, claim);
    }
    if (kind === JOB_SETTLE) {
      const end = readJobEnd(buffer);
      return this.#settle(readSettle(buffer), readSettlement(buffer), null, end);
    }
    if (kind === RESERVE) return this.#jobs.reserve(readReserve(buffer), null);
    if (kind === KEYED_RESERVE) {
      const mark = { key: buffer.text(), bodySha256: buffer.blob() };
      return this.#jobs.reserve(readReserve(buffer), mark);
    }
    if (kind === RELEASE) return this.#jobs.release(readRelease(buffer));
    if (kind === UNWRITABLE) return { kind: 'operation_failed', message: buffer.text() };
    throw new Error(`Unknown operation ${kind} in the batch buffer.`);
  }

  #hold(hold: StoredHold, mark: IdempotencyMark | null): LedgerOutcome {
    const { id, amountNanousd: amount, lossLimitNanousd: lossLimit, accountId } = hold;
    const cache = this.#cache;
    if (amount < 0n || !isAmount(amount)) return holdRefused('out_of_range');
    if (hold.epoch !== cache.epoch) return holdRefused('stale_epoch');
    const owner = ownerOf(cache, hold);
    if ('reason' in owner) return owner;
    const { balance } = owner;
    const repeat = mark === null ? null : this.#idempotencyKeys.repeatOf(accountId, mark, cache.nowMs);
    if (repeat !== null) return repeat;
    if (lossLimit !== null && !balance.unlimited && isLossUsedUp(balance, cache.windowTimeMs, lossLimit)) {
      return holdRefused('loss_allowance');
    }
    const windows = roomFor(cache, owner, hold);
    if ('reason' in windows) return windows;

    const { window, personWindow } = windows;
    const cells = callCells(cache, hold, window, personWindow);
    const idempotencyKey = mark === null ? null : mark.key;
    const state = CALL_STATE.of.open;
    cache.addOpen({ id, state, balance, window, personWindow, held: amount, cost: 0n, idempotencyKey }, cells);
    if (mark !== null) this.#takeKey(hold, mark);
    if (balance.lostNanousd === 0n) return HELD;
    const { lostNanousd } = lossAt(balance, cache.windowTimeMs);
    return lostNanousd === 0n ? HELD : { kind: 'held', lostNanousd };
  }

  #takeKey({ id, accountId }: StoredHold, mark: IdempotencyMark): void {
    this.#cache.writeNewCalls();
    this.#nameKey.run(mark.key, id);
    this.#idempotencyKeys.take(accountId, mark, id, this.#cache.nowMs);
  }

  #settle(
    { id, endedMs, lossLimitNanousd, accountLossNanousd }: StoredSettle,
    settlement: StoredSettlement,
    kept: Uint8Array | null,
    jobEnd: StoredJobEnd | null = null,
  ): LedgerOutcome {
    const { costNanousd: cost, components } = settlement;
    if (cost < 0n) return settleRefused('negative');
    if (components !== null && !sumsTo(components, cost)) return settleRefused('components_wrong');
    const call = this.#cache.call(id);
    if (call === null) return settleRefused('no_hold');
    if (call.state === CALL_STATE.of.voided) return { kind: 'settle_found_void' };
    if (call.state === CALL_STATE.of.settled) return { kind: 'settle_repeated', costNanousd: call.cost };
    if (cost > call.held) return settleRefused('exceeds_hold');
    const loss = lossLimitNanousd === null ? null : this.#lossWith(call, accountLossNanousd, lossLimitNanousd);
    if (loss === 'too_much') return settleRefused('loss_allowance');
    const job = jobEnd === null ? null : this.#jobs.running(jobEnd, id);

    if (loss !== null) this.#cache.touchBalance(Object.assign(call.balance, loss));
    else if (accountLossNanousd !== null) this.#noteLoss(call, accountLossNanousd);
    this.#writeSettled(id, endedMs, settlement);
    const own = ownKey(call);
    if (own !== null) this.#idempotencyKeys.settle(own, cost, isAnswered(settlement), kept);
    this.#cache.endHold(call, cost);
    if (job !== null) this.#jobs.end(job, jobEnd!, cost, settlement.httpStatus, call);
    return SETTLED;
  }

  /** The losses of the account with this one, or the hold; null for an unlimited account, whose losses are not limited. */
  #lossWith({ balance, held }: CallRow, nanousd: bigint | null, limitNanousd: bigint): LossHour | 'too_much' | null {
    if (balance.unlimited) return null;
    return addLoss(balance, this.#cache.windowTimeMs, nanousd ?? held, limitNanousd) ?? 'too_much';
  }

  #noteLoss({ balance }: CallRow, nanousd: bigint): void {
    if (balance.unlimited) return;
    this.#cache.touchBalance(Object.assign(balance, noteLoss(balance, this.#cache.windowTimeMs, nanousd)));
  }

  #writeSettled(id: bigint, endedMs: number, settlement: StoredSettlement): void {
    this.#cache.writeNewCalls();
    const { changes } = runSettle(this.#settleCall, endedMs, settlement, this.#cache, id);
    if (changes !== 1n) throw new Error(`Call ${id} was not open.`);
  }

  void(id: bigint, reason: string): LedgerOutcome {
    const call = this.#cache.call(id);
    if (call === null || call.state !== CALL_STATE.of.open) return { kind: 'void_not_open' };

    this.#cache.writeNewCalls();
    const { changes } = this.#voidCall.run(this.#cache.nowMs, reason, id);
    if (changes !== 1n) throw new Error(`Call ${id} was not open.`);
    const own = ownKey(call);
    if (own !== null) this.#idempotencyKeys.lose(own);
    this.#cache.endHold(call, 0n);
    this.#jobs.lose(call);
    return { kind: 'voided' };
  }

  #auditedCredit(credit: StoredCredit, audit: StoredAudit): LedgerOutcome {
    const outcome = this.#credit(credit);
    if (outcome.kind === 'credited') runProgram(this.#database, writeAudit(audit as AuditRow));
    return outcome;
  }

  #credit({ id, accountId, callId, amountNanousd: amount, reference, note, createdMs }: StoredCredit): LedgerOutcome {
    if (amount === 0n) return creditRefused('zero');
    if (!isAmount(amount)) return creditRefused('out_of_range');
    const row = this.#cache.balance(accountId);
    if (row === null) return creditRefused('no_account');
    const before = this.#findCredit.get(accountId, reference);
    if (before?.amount === amount && before.call_id === callId)
      return { kind: 'credit_repeated', balanceNanousd: row.balance };
    if (before !== undefined) return creditRefused('reference_differs');
    if (row.status === ACCOUNT_STATUS.of.closed) return creditRefused('account_closed');
    const refusal = callId === null ? null : this.#whyNotRefunded(callId, accountId, amount);
    if (refusal !== null) return creditRefused(refusal);
    const balance = row.balance + amount;
    const left = balance - row.held - row.reserved;
    if (!row.unlimited && amount < 0n && left < 0n) return creditRefused('exceeds_available');
    if (balance > INT64_MAX || left < INT64_MIN) return creditRefused('out_of_range');

    this.#insertCredit.run(id, accountId, reference, amount, note, createdMs, callId);
    row.balance = balance;
    this.#cache.touchBalance(row);
    return { kind: 'credited', balanceNanousd: balance };
  }

  #whyNotRefunded(callId: bigint, accountId: bigint, amount: bigint): RefundRefusal | null {
    if (amount < 0n) return 'negative_refund';
    const call = this.#cache.call(callId);
    if (call === null || call.balance.accountId !== accountId) return 'no_receipt';
    if (call.state !== CALL_STATE.of.settled) return 'not_settled';
    const refunded = this.#sumRefunds.get(callId)?.refunded as bigint;
    return refunded + amount > call.cost ? 'exceeds_cost' : null;
  }
}

const HELD: LedgerOutcome = { kind: 'held' };
const SETTLED: LedgerOutcome = { kind: 'settled' };

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

function isAnswered({ ended, usage }: StoredSettlement): boolean {
  return ended === COMPLETE || usage !== null;
}

/** The components of a cost are never negative and sum exactly to it. */
function sumsTo(components: readonly bigint[], cost: bigint): boolean {
  let sum = 0n;
  for (const component of components) {
    if (component < 0n) return false;
    sum += component;
  }
  return sum === cost;
}

type StoredSettle = ReturnType<typeof readSettle>;
type StoredSettlement = ReturnType<typeof readSettlement>;
type StoredCredit = ReturnType<typeof readCredit>;
type StoredAudit = ReturnType<typeof readAudit>;
type StoredJobEnd = ReturnType<typeof readJobEnd>;

const runSettle = compileRun(SETTLEMENT_FIELDS);
