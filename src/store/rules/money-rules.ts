import type { Clock } from '../../kit/clock.ts';
import { windowId } from '../codes.ts';
import { freesKey, type IdempotencyRow, isAnswered, isOver, keptKeyMs, repeatOf } from '../idempotency.ts';
import { INT64_MAX, INT64_MIN, isAmount } from '../int64.ts';
import type { ReserveOperation, ReserveRefusal } from '../jobs.ts';
import { addLoss, isLossUsedUp, type LossHour, lossAt, noteLoss } from '../loss-allowance.ts';
import type {
  CreditOperation,
  HoldOperation,
  HoldRefusal,
  IdempotencyMark,
  LedgerOperation,
  LedgerOutcome,
  RefundRefusal,
  SettleOperation,
} from '../store.ts';
import { JobMoney } from './job-money.ts';
import type { Windows } from './job-rules.ts';
import { addOpenCall } from './open-call.ts';
import {
  type Cap,
  idempotencyName,
  isActive,
  type LedgerRows,
  memberName,
  personWindowNameOf,
  type Spend,
  spendsIn,
  windowNameOf,
} from './rows.ts';

type Account = LedgerRows['accounts'] extends ReadonlyMap<bigint, infer Row> ? Row : never;
type Key = LedgerRows['keys'] extends ReadonlyMap<bigint, infer Row> ? Row : never;
type Call = LedgerRows['calls'] extends Map<bigint, infer Row> ? Row : never;

/**
 * The operations on money, over rows in memory: PostgreSQL reads the rows of a batch, runs these rules and writes what
 * changed; the memory driver runs them on its own rows. An exception is a defect, never an outcome, and has changed nothing.
 */
export class MoneyRules {
  readonly #rows: LedgerRows;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #jobs: JobMoney;

  constructor(rows: LedgerRows, clock: Pick<Clock, 'nowMs'>) {
    this.#rows = rows;
    this.#clock = clock;
    this.#jobs = new JobMoney(rows, clock);
  }

  get windowTimeMs(): number {
    return Math.max(this.#rows.todayMs, this.#clock.nowMs());
  }

  apply(operation: LedgerOperation): LedgerOutcome {
    if (operation.kind === 'hold') {
      return operation.job === undefined ? this.#hold(operation) : this.#jobs.start(operation, operation.job);
    }
    if (operation.kind === 'settle') return this.#settle(operation);
    if (operation.kind === 'void') return this.void(operation.id, operation.reason);
    if (operation.kind === 'reserve') return this.#reserve(operation);
    if (operation.kind === 'release') return this.#jobs.release(operation);
    return this.#credit(operation);
  }

  #hold(hold: HoldOperation): LedgerOutcome {
    const amount = hold.amountNanousd;
    if (amount < 0n || !isAmount(amount)) return refused('out_of_range');
    if (!this.#rows.epochs.has(hold.epoch)) return refused('stale_epoch');
    const owner = this.#ownerOf(hold);
    if ('reason' in owner) return owner;
    const { account } = owner;
    const taken = this.#repeatOf(hold);
    if (taken !== null) return taken;
    const lossLimit = account.kind === 'unlimited' ? null : (hold.lossLimitNanousd ?? null);
    if (lossLimit !== null && isLossUsedUp(account, this.windowTimeMs, lossLimit)) return refused('loss_allowance');
    const room = this.#roomFor(owner, amount, hold.ceilingNanousd);
    if ('reason' in room) return room;

    const { windowName, personWindowName } = room;
    addOpenCall(this.#rows, hold, windowName, personWindowName);
    for (const each of [account, room.spend, room.personSpend]) each.heldNanousd += amount;
    this.#keepWindows(room);
    if (hold.idempotency !== null) this.#takeKey(hold, hold.idempotency);
    const { lostNanousd } = lossAt(account, this.windowTimeMs);
    return lostNanousd === 0n ? { kind: 'held' } : { kind: 'held', lostNanousd };
  }

  #reserve(reserve: ReserveOperation): LedgerOutcome {
    const amount = reserve.amountNanousd;
    if (amount < 0n || !isAmount(amount)) return reserveRefused(refused('out_of_range'));
    const owner = this.#ownerOf(reserve);
    if ('reason' in owner) return reserveRefused(owner);
    const taken = this.#repeatOf(reserve);
    if (taken !== null) return taken;
    const staged = this.#jobs.staged(reserve);
    if (staged === null) return reserveRefused({ reason: 'not_staged' });
    const overLimit = this.#jobs.overLimits(staged);
    if (overLimit !== null) return reserveRefused({ reason: overLimit });
    const room = this.#roomFor(owner, amount, reserve.ceilingNanousd);
    if ('reason' in room) return reserveRefused(room);

    for (const each of [owner.account, room.spend, room.personSpend]) each.reservedNanousd += amount;
    this.#keepWindows(room);
    this.#jobs.accept(staged, room);
    const { idempotency: mark, keepKeyUntilMs } = reserve;
    if (mark !== null) this.#keepKey(reserve, mark, keepKeyUntilMs);
    return { kind: 'reserved' };
  }

  /** The account and the key of a call or a job, or why they may not spend. */
  #ownerOf(of: Pick<HoldOperation, 'accountId' | 'keyId' | 'personId'>): Owner | HoldRefused {
    const account = this.#rows.accounts.get(of.accountId);
    const key = of.keyId === null ? null : this.#rows.keys.get(of.keyId);
    if (account === undefined) return refused('no_account');
    if (key === undefined || (key !== null && !isActive(key, account, this.#clock.nowMs()))) {
      return refused('key_inactive');
    }
    const personId = of.personId ?? null;
    const member = personId === null ? null : this.#rows.members.get(memberName(account.id, personId));
    if ((key?.personId ?? null) !== personId || member === undefined) return refused('key_inactive');
    if (account.status !== 'active') return refused(`account_${account.status}`);
    return { account, key, member, personId };
  }

  /** The windows in which the amount counts, or the limit that it exceeds. */
  #roomFor({ account, key, member, personId }: Owner, amount: bigint, ceiling: bigint | null): Room | HoldRefused {
    if (ceiling !== null && amount > ceiling) return refused('cost_ceiling', ceiling);
    const nowMs = this.windowTimeMs;
    const windowName = key === null ? null : windowNameOf(key.id, key.capWindow, nowMs);
    const spend = spendIn(this.#rows.windows, windowName);
    const ofKey = key === null ? null : leftOf(key, spend);
    if (ofKey !== null && amount > ofKey) return refused('key_cap', ofKey);
    const personWindowName =
      member === null ? null : personWindowNameOf(account.id, personId!, member.capWindow, nowMs);
    const personSpend = spendIn(this.#rows.personWindows, personWindowName);
    const ofPerson = member === null ? null : leftOf(member, personSpend);
    if (ofPerson !== null && amount > ofPerson) return refused('person_cap', ofPerson);
    const { balanceNanousd, heldNanousd, reservedNanousd, spentNanousd } = account;
    const available = balanceNanousd - heldNanousd - reservedNanousd;
    if (account.kind === 'prepaid' && amount > available) return refused('balance', available);
    if (spentNanousd + heldNanousd + reservedNanousd + amount > INT64_MAX) return refused('out_of_range');
    if (available - amount < INT64_MIN) return refused('out_of_range');
    const windowIds = {
      windowId: key === null ? null : windowId(key.capWindow, nowMs),
      personWindowId: member === null ? null : windowId(member.capWindow, nowMs),
    };
    return { windowName, spend, personWindowName, personSpend, ...windowIds };
  }

  #keepWindows({ windowName, spend, personWindowName, personSpend }: Room): void {
    if (windowName !== null) this.#rows.windows.set(windowName, spend);
    if (personWindowName !== null) this.#rows.personWindows.set(personWindowName, personSpend);
  }

  #repeatOf({ accountId, idempotency: mark }: HoldOperation | ReserveOperation): LedgerOutcome | null {
    const row = mark === null ? undefined : this.#rows.idempotencyKeys.get(idempotencyName(accountId, mark.key));
    return mark === null || row === undefined || isOver(row, this.#clock.nowMs()) ? null : repeatOf(row, mark);
  }

  #takeKey({ id, accountId }: HoldOperation, { key, bodySha256 }: IdempotencyMark): void {
    const row = { callId: id, bodySha256, state: 'running', kept: null, createdMs: this.#clock.nowMs() } as const;
    this.#rows.idempotencyKeys.set(idempotencyName(accountId, key), row);
  }

  /** A job's key is finished at once. It is kept until `untilMs`, and at least as long as any other key. */
  #keepKey({ id, accountId }: ReserveOperation, { key, bodySha256 }: IdempotencyMark, untilMs: number): void {
    const createdMs = keptKeyMs(this.#clock.nowMs(), untilMs);
    const row = { callId: id, bodySha256, state: 'finished', kept: null, createdMs } as const;
    this.#rows.idempotencyKeys.set(idempotencyName(accountId, key), row);
  }

  /** Null frees the key. */
  #endKey({ accountId, idempotencyKey }: Call['receipt'], end: Pick<IdempotencyRow, 'state' | 'kept'> | null): void {
    if (idempotencyKey === null) return;
    const name = idempotencyName(accountId, idempotencyKey);
    const row = this.#rows.idempotencyKeys.get(name);
    if (end === null || row === undefined) this.#rows.idempotencyKeys.delete(name);
    else this.#rows.idempotencyKeys.set(name, { ...row, ...end });
  }

  #settle(operation: SettleOperation): LedgerOutcome {
    const { id, settlement, endedMs, kept, lossLimitNanousd = null, accountLossNanousd = null } = operation;
    const { costNanousd: cost, components } = settlement;
    const call = this.#rows.calls.get(id);
    if (cost < 0n) return { kind: 'settle_refused', reason: 'negative' };
    if (components !== null && !sumsTo(Object.values(components), cost)) {
      return { kind: 'settle_refused', reason: 'components_wrong' };
    }
    if (call === undefined) return { kind: 'settle_refused', reason: 'no_hold' };
    if (call.receipt.state === 'voided') return { kind: 'settle_found_void' };
    if (call.receipt.state === 'settled') return { kind: 'settle_repeated', costNanousd: call.receipt.costNanousd };
    if (cost > call.receipt.heldNanousd) return { kind: 'settle_refused', reason: 'exceeds_hold' };
    const loss = lossLimitNanousd === null ? null : this.#lossWith(call, accountLossNanousd, lossLimitNanousd);
    if (loss === 'too_much') return { kind: 'settle_refused', reason: 'loss_allowance' };
    const job = operation.job === undefined ? null : this.#jobs.running(operation.job, id);

    this.#endHold(call, cost);
    if (loss !== null) Object.assign(this.#rows.accounts.get(call.receipt.accountId)!, loss);
    else if (accountLossNanousd !== null) this.#noteLoss(call, accountLossNanousd);
    const isFree = freesKey(cost, isAnswered(settlement), kept);
    this.#endKey(call.receipt, isFree ? null : { state: 'finished', kept });
    Object.assign(call.receipt, settlement, { state: 'settled', endedMs });
    if (job !== null) this.#jobs.end(job, operation.job!, settlement);
    return { kind: 'settled' };
  }

  /** The losses of the account with this one, or the hold; null for an unlimited account, whose losses are not limited. */
  #lossWith({ receipt }: Call, nanousd: bigint | null, limitNanousd: bigint): LossHour | 'too_much' | null {
    const account = this.#rows.accounts.get(receipt.accountId)!;
    if (account.kind === 'unlimited') return null;
    return addLoss(account, this.windowTimeMs, nanousd ?? receipt.heldNanousd, limitNanousd) ?? 'too_much';
  }

  #noteLoss({ receipt }: Call, nanousd: bigint): void {
    const account = this.#rows.accounts.get(receipt.accountId)!;
    if (account.kind !== 'unlimited') Object.assign(account, noteLoss(account, this.windowTimeMs, nanousd));
  }

  void(id: bigint, reason: string): LedgerOutcome {
    const call = this.#rows.calls.get(id);
    if (call?.receipt.state !== 'open') return { kind: 'void_not_open' };
    const job = this.#jobs.attempted(id);

    this.#endHold(call, 0n);
    this.#endKey(call.receipt, { state: 'unknown', kept: null });
    call.receipt.state = 'voided';
    call.receipt.ended = 'died';
    call.receipt.endedMs = this.#clock.nowMs();
    call.receipt.lossNanousd = call.receipt.heldNanousd;
    call.receipt.lossReason = reason;
    if (job !== null) this.#jobs.lose(job);
    return { kind: 'voided' };
  }

  #endHold({ receipt, windowName, personWindowName }: Call, cost: bigint): void {
    for (const spend of spendsIn(this.#rows, receipt.accountId, windowName, personWindowName)) {
      spend.heldNanousd -= receipt.heldNanousd;
      spend.spentNanousd += cost;
    }
    this.#rows.accounts.get(receipt.accountId)!.balanceNanousd -= cost;
  }

  #credit(credit: CreditOperation): LedgerOutcome {
    const amount = credit.amountNanousd;
    const account = this.#rows.accounts.get(credit.accountId);
    if (amount === 0n) return { kind: 'credit_refused', reason: 'zero' };
    if (!isAmount(amount)) return { kind: 'credit_refused', reason: 'out_of_range' };
    if (account === undefined) return { kind: 'credit_refused', reason: 'no_account' };
    const before = [...this.#rows.credits.values()].find(
      (other) => other.accountId === credit.accountId && other.reference === credit.reference,
    );
    const callId = credit.callId ?? null;
    if (before?.amountNanousd === amount && (before.callId ?? null) === callId) {
      return { kind: 'credit_repeated', balanceNanousd: account.balanceNanousd };
    }
    if (before !== undefined) return { kind: 'credit_refused', reason: 'reference_differs' };
    if (account.status === 'closed') return { kind: 'credit_refused', reason: 'account_closed' };
    const refusal = callId === null ? null : this.#whyNotRefunded(callId, credit);
    if (refusal !== null) return { kind: 'credit_refused', reason: refusal };
    const balance = account.balanceNanousd + amount;
    if (account.kind === 'prepaid' && amount < 0n && balance < account.heldNanousd + account.reservedNanousd) {
      return { kind: 'credit_refused', reason: 'exceeds_available' };
    }
    if (balance > INT64_MAX || balance - account.heldNanousd - account.reservedNanousd < INT64_MIN) {
      return { kind: 'credit_refused', reason: 'out_of_range' };
    }

    if (this.#rows.credits.has(credit.id)) throw new Error(`The id ${credit.id} is already in use.`);
    this.#rows.credits.set(credit.id, credit);
    if (callId !== null) this.#rows.refunds.set(callId, this.#refunded(callId) + amount);
    account.balanceNanousd = balance;
    return { kind: 'credited', balanceNanousd: balance };
  }

  #whyNotRefunded(callId: bigint, { accountId, amountNanousd: amount }: CreditOperation): RefundRefusal | null {
    const receipt = this.#rows.calls.get(callId)?.receipt;
    if (amount < 0n) return 'negative_refund';
    if (receipt === undefined || receipt.accountId !== accountId) return 'no_receipt';
    if (receipt.state !== 'settled') return 'not_settled';
    return this.#refunded(callId) + amount > receipt.costNanousd ? 'exceeds_cost' : null;
  }

  #refunded(callId: bigint): bigint {
    return this.#rows.refunds.get(callId) ?? 0n;
  }
}

type HoldRefused = Extract<LedgerOutcome, { kind: 'hold_refused' }>;

/** Who spends. If the key belongs to no person, there is no member; a call without a key has neither. */
interface Owner {
  readonly account: Account;
  readonly key: Key | null;
  readonly member: Cap | null;
  readonly personId: bigint | null;
}

/** Where an amount counts. */
interface Room extends Windows {
  readonly windowName: string | null;
  readonly spend: Spend;
  readonly personWindowName: string | null;
  readonly personSpend: Spend;
}

function refused(reason: HoldRefusal, availableNanousd: bigint | null = null): HoldRefused {
  return { kind: 'hold_refused', reason, availableNanousd };
}

function reserveRefused(why: { readonly reason: string; readonly availableNanousd?: bigint | null }): LedgerOutcome {
  const { reason, availableNanousd = null } = why;
  return { kind: 'reserve_refused', reason: reason as ReserveRefusal, availableNanousd };
}

function sumsTo(parts: readonly bigint[], total: bigint): boolean {
  return parts.every((part) => part >= 0n) && parts.reduce((sum, part) => sum + part, 0n) === total;
}

function spendIn(windows: ReadonlyMap<string, Spend>, name: string | null): Spend {
  return (name !== null && windows.get(name)) || { spentNanousd: 0n, heldNanousd: 0n, reservedNanousd: 0n };
}

/** What a cap leaves: at least zero, because it may be set below what was already spent; null without a cap. */
function leftOf({ capNanousd }: Cap, { spentNanousd, heldNanousd, reservedNanousd }: Spend): bigint | null {
  if (capNanousd === null) return null;
  const left = capNanousd - spentNanousd - heldNanousd - reservedNanousd;
  return left > 0n ? left : 0n;
}
