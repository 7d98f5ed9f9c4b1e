import type { Receipt } from '../canonical/receipt.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { INT64_MAX, INT64_MIN, isAmount } from './int64.ts';
import {
  type Account,
  type CapWindow,
  type CreditOperation,
  DIED_REASON,
  type HoldOperation,
  type HoldRefusal,
  type Instance,
  type KeyChange,
  type KeyRow,
  type KeyWindow,
  type LedgerOperation,
  type LedgerOutcome,
  type NewAccount,
  type NewKey,
  type Page,
  type ReceiptFilter,
  type SettleOperation,
  type Store,
  type StoreHealth,
  type VerifyReport,
} from './store.ts';
import { startOfDayMs, windowSpan } from './windows.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Spend = { spentNanousd: bigint; heldNanousd: bigint };
type Call = { receipt: Mutable<Receipt>; windowName: string | null };

/** The store in plain maps: the model that every engine is compared with. It forgets all when the process ends. */
export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #accounts = new Map<bigint, Mutable<Account>>();
  readonly #keys = new Map<bigint, KeyRow>();
  readonly #windows = new Map<string, Spend>();
  readonly #calls = new Map<bigint, Call>();
  readonly #forgotten: Receipt[] = [];
  readonly #credits = new Map<bigint, CreditOperation>();
  readonly #prices: { version: string; pricesJson: string }[] = [];
  #epoch = 0n;
  #keyVersion = 0n;
  #closedUpTo = 0n;
  /** Windows never move back: the latest day any batch was applied on. */
  #todayMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    if (operations.length > 0) this.#todayMs = Math.max(this.#todayMs, startOfDayMs(this.#clock.nowMs()));
    return operations.map((operation) => {
      try {
        return this.#applyOne(operation);
      } catch (error) {
        return { kind: 'operation_failed', message: String(error) };
      }
    });
  }

  #applyOne(operation: LedgerOperation): LedgerOutcome {
    if (operation.kind === 'hold') return this.#hold(operation);
    if (operation.kind === 'settle') return this.#settle(operation);
    if (operation.kind === 'void') return this.#void(operation.id, operation.reason);
    return this.#credit(operation);
  }

  #hold(hold: HoldOperation): LedgerOutcome {
    const amount = hold.amountNanousd;
    const account = this.#accounts.get(hold.accountId);
    const key = hold.keyId === null ? null : this.#keys.get(hold.keyId);
    if (amount < 0n || !isAmount(amount)) return refused('out_of_range');
    if (hold.epoch !== this.#epoch) return refused('stale_epoch');
    if (account === undefined) return refused('no_account');
    if (key === undefined || (key !== null && !this.#isActive(key, account))) return refused('key_inactive');
    if (hold.ceilingNanousd !== null && amount > hold.ceilingNanousd) {
      return refused('cost_ceiling', hold.ceilingNanousd);
    }
    const windowName = key === null ? null : windowNameOf(key.id, key.capWindow, this.#windowTimeMs());
    const spend = (windowName !== null && this.#windows.get(windowName)) || { spentNanousd: 0n, heldNanousd: 0n };
    if (key?.capNanousd != null) {
      const left = key.capNanousd - spend.spentNanousd - spend.heldNanousd;
      if (amount > left) return refused('key_cap', left > 0n ? left : 0n);
    }
    const available = account.balanceNanousd - account.heldNanousd;
    if (account.kind === 'prepaid' && amount > available) return refused('balance', available);
    if (account.spentNanousd + account.heldNanousd + amount > INT64_MAX) return refused('out_of_range');
    if (available - amount < INT64_MIN) return refused('out_of_range');

    const priceVersion = this.#prices[hold.priceId - 1]?.version;
    if (priceVersion === undefined) throw new Error(`There is no price list ${hold.priceId}.`);
    if (this.#calls.has(hold.id)) throw new Error(`The id ${hold.id} is taken.`);
    if (hold.id <= this.#closedUpTo) throw new Error(`The books are closed beyond the id ${hold.id}.`);
    account.heldNanousd += amount;
    spend.heldNanousd += amount;
    if (windowName !== null) this.#windows.set(windowName, spend);
    this.#calls.set(hold.id, { receipt: openReceipt(hold, priceVersion), windowName });
    return { kind: 'held' };
  }

  #isActive(key: KeyRow, account: Account): boolean {
    if (key.accountId !== account.id || key.revokedMs !== null) return false;
    return key.expiresMs === null || key.expiresMs > this.#clock.nowMs();
  }

  #settle({ id, settlement, endedMs }: SettleOperation): LedgerOutcome {
    const { costNanousd: cost, components } = settlement;
    const call = this.#calls.get(id);
    if (cost < 0n) return { kind: 'settle_refused', reason: 'negative' };
    if (components !== null && !sumsTo(Object.values(components), cost)) {
      return { kind: 'settle_refused', reason: 'components_wrong' };
    }
    if (call === undefined) return { kind: 'settle_refused', reason: 'no_hold' };
    if (call.receipt.state === 'voided') return { kind: 'settle_found_void' };
    if (call.receipt.state === 'settled') return { kind: 'settle_repeated', costNanousd: call.receipt.costNanousd };
    if (cost > call.receipt.heldNanousd) return { kind: 'settle_refused', reason: 'exceeds_hold' };

    this.#endHold(call, cost);
    Object.assign(call.receipt, settlement, { state: 'settled', endedMs });
    return { kind: 'settled' };
  }

  #void(id: bigint, reason: string): LedgerOutcome {
    const call = this.#calls.get(id);
    if (call?.receipt.state !== 'open') return { kind: 'void_not_open' };

    this.#endHold(call, 0n);
    call.receipt.state = 'voided';
    call.receipt.ended = 'died';
    call.receipt.endedMs = this.#clock.nowMs();
    call.receipt.lossNanousd = call.receipt.heldNanousd;
    call.receipt.lossReason = reason;
    return { kind: 'voided' };
  }

  #endHold({ receipt, windowName }: Call, cost: bigint): void {
    const account = this.#accounts.get(receipt.accountId)!;
    account.balanceNanousd -= cost;
    for (const spend of [account, windowName === null ? null : this.#windows.get(windowName)!]) {
      if (spend === null) continue;
      spend.heldNanousd -= receipt.heldNanousd;
      spend.spentNanousd += cost;
    }
  }

  #credit(credit: CreditOperation): LedgerOutcome {
    const amount = credit.amountNanousd;
    const account = this.#accounts.get(credit.accountId);
    if (amount === 0n) return { kind: 'credit_refused', reason: 'zero' };
    if (!isAmount(amount)) return { kind: 'credit_refused', reason: 'out_of_range' };
    if (account === undefined) return { kind: 'credit_refused', reason: 'no_account' };
    const before = [...this.#credits.values()].find(
      (other) => other.accountId === credit.accountId && other.reference === credit.reference,
    );
    if (before?.amountNanousd === amount) {
      return { kind: 'credit_repeated', balanceNanousd: account.balanceNanousd };
    }
    if (before !== undefined) return { kind: 'credit_refused', reason: 'reference_differs' };
    const balance = account.balanceNanousd + amount;
    if (account.kind === 'prepaid' && amount < 0n && balance < account.heldNanousd) {
      return { kind: 'credit_refused', reason: 'exceeds_available' };
    }
    if (balance > INT64_MAX || balance - account.heldNanousd < INT64_MIN) {
      return { kind: 'credit_refused', reason: 'out_of_range' };
    }

    if (this.#credits.has(credit.id)) throw new Error(`The id ${credit.id} is taken.`);
    this.#credits.set(credit.id, credit);
    account.balanceNanousd = balance;
    return { kind: 'credited', balanceNanousd: balance };
  }

  async beginInstance(): Promise<Instance> {
    this.#epoch += 1n;
    const open = [...this.#calls.values()].filter((call) => call.receipt.state === 'open');
    for (const call of open) this.#void(call.receipt.id, DIED_REASON);
    return { number: Number(this.#epoch % 1024n), epoch: this.#epoch, voidedHolds: open.length };
  }

  async registerPrices(version: string, pricesJson: string): Promise<number> {
    const index = this.#prices.findIndex((list) => list.version === version);
    if (index === -1) return this.#prices.push({ version, pricesJson });
    if (this.#prices[index]?.pricesJson !== pricesJson) throw new Error(`Price list ${version} has other prices.`);
    return index + 1;
  }

  async createAccount(account: NewAccount): Promise<'created' | 'name_taken'> {
    if ([...this.#accounts.values()].some((other) => other.name === account.name)) return 'name_taken';
    if (this.#accounts.has(account.id)) throw new Error(`The id ${account.id} is taken.`);
    this.#accounts.set(account.id, { ...account, balanceNanousd: 0n, heldNanousd: 0n, spentNanousd: 0n });
    return 'created';
  }

  async findAccount(idOrName: bigint | string): Promise<Account | null> {
    const account = [...this.#accounts.values()].find((one) => one.id === idOrName || one.name === idOrName);
    return account === undefined ? null : { ...account };
  }

  async listAccounts(page: Page): Promise<Account[]> {
    return pageOf([...this.#accounts.values()].sort(byId), page).map((account) => ({ ...account }));
  }

  async createKey(key: NewKey): Promise<'created' | 'no_account'> {
    if (!this.#accounts.has(key.accountId)) return 'no_account';
    const taken = [...this.#keys.values()].some((other) => other.id === key.id || other.sha256Hex === key.sha256Hex);
    if (taken) throw new Error(`The key ${key.id} or its hash is taken.`);
    this.#keys.set(key.id, { ...key, revokedMs: null, version: ++this.#keyVersion });
    return 'created';
  }

  async updateKey(id: bigint, change: KeyChange): Promise<KeyRow | null> {
    const key = this.#keys.get(id);
    if (key === undefined) return null;
    const changed = { ...key, ...change, version: ++this.#keyVersion };
    this.#keys.set(id, changed);
    return changed;
  }

  async findKeyByHash(sha256Hex: string): Promise<KeyRow | null> {
    return [...this.#keys.values()].find((key) => key.sha256Hex === sha256Hex) ?? null;
  }

  async findKey(id: bigint): Promise<KeyRow | null> {
    return this.#keys.get(id) ?? null;
  }

  async listKeys(accountId: bigint | null, page: Page): Promise<KeyRow[]> {
    const keys = [...this.#keys.values()].filter((key) => accountId === null || key.accountId === accountId);
    return pageOf(keys.sort(byId), page);
  }

  async keysChangedSince(version: bigint | null): Promise<{ version: bigint; keys: KeyRow[] }> {
    if (version === null) return { version: this.#keyVersion, keys: [] };
    const changed = [...this.#keys.values()].filter((key) => key.version > version);
    const keys = changed.sort((a, b) => (a.version < b.version ? -1 : 1)).slice(0, LIMITS.storePageRowsMax);
    return { version: keys.at(-1)?.version ?? version, keys };
  }

  async keyWindow(keyId: bigint): Promise<KeyWindow | null> {
    const key = this.#keys.get(keyId);
    if (key === undefined) return null;
    const spend = this.#windows.get(windowNameOf(keyId, key.capWindow, this.#windowTimeMs()));
    const span = windowSpan(key.capWindow, this.#windowTimeMs());
    return { window: key.capWindow, ...span, ...(spend ?? { spentNanousd: 0n, heldNanousd: 0n }) };
  }

  async findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    const receipt = this.#calls.get(id)?.receipt;
    if (receipt === undefined || (accountId !== null && receipt.accountId !== accountId)) return null;
    return { ...receipt };
  }

  async listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]> {
    const matching = this.#receipts().filter(
      (receipt) =>
        (filter.accountId === null || receipt.accountId === filter.accountId) &&
        (filter.keyId === null || receipt.keyId === filter.keyId) &&
        (filter.sinceMs === null || receipt.createdMs >= filter.sinceMs) &&
        (page.after === null || receipt.id < page.after),
    );
    return pageOf(matching.reverse(), { limit: page.limit, after: null }).map((receipt) => ({ ...receipt }));
  }

  /** Recomputes nothing that the maps could get wrong by themselves: the engines' own sums are checked against it. */
  async verify(): Promise<VerifyReport> {
    const receipts = [...this.#forgotten, ...this.#receipts()];
    const open = receipts.filter((receipt) => receipt.state === 'open');
    return {
      accounts: this.#accounts.size,
      keys: this.#keys.size,
      receipts: receipts.length - open.length,
      credits: this.#credits.size,
      openHolds: open.length,
      lossNanousd: receipts.reduce((sum, receipt) => sum + receipt.lossNanousd, 0n),
      violations: [...this.#accounts.values()].flatMap((account) => this.#violations(account, receipts)),
    };
  }

  #violations(account: Account, receipts: readonly Receipt[]): string[] {
    const own = receipts.filter((receipt) => receipt.accountId === account.id);
    const spent = own.reduce((sum, receipt) => sum + receipt.costNanousd, 0n);
    const held = own.reduce((sum, receipt) => sum + (receipt.state === 'open' ? receipt.heldNanousd : 0n), 0n);
    const credited = [...this.#credits.values()].reduce(
      (sum, credit) => sum + (credit.accountId === account.id ? credit.amountNanousd : 0n),
      0n,
    );
    const exact =
      spent === account.spentNanousd && held === account.heldNanousd && credited - spent === account.balanceNanousd;
    return exact ? [] : [`Account ${account.id} does not equal the sum of its entries.`];
  }

  async closeBooks(forgetBeforeMs: number | null): Promise<{ closed: number; forgotten: number }> {
    let closed = 0;
    for (const receipt of this.#receipts()) {
      if (receipt.id <= this.#closedUpTo) continue;
      if (receipt.state === 'open' || receipt.createdMs > this.#clock.nowMs() - LIMITS.closingAgeMs) break;
      this.#closedUpTo = receipt.id;
      closed += 1;
    }
    const forgotten = this.#receipts().filter(
      ({ id, createdMs }) => id <= this.#closedUpTo && forgetBeforeMs !== null && createdMs < forgetBeforeMs,
    );
    for (const receipt of forgotten) this.#calls.delete(receipt.id);
    this.#forgotten.push(...forgotten);
    return { closed, forgotten: forgotten.length };
  }

  async health(): Promise<StoreHealth> {
    return { ok: true, reason: null, mayAdmit: true };
  }

  async close(): Promise<void> {}

  #receipts(): Receipt[] {
    return [...this.#calls.values()].map((call) => call.receipt).sort(byId);
  }

  #windowTimeMs(): number {
    return Math.max(this.#todayMs, this.#clock.nowMs());
  }
}

function refused(reason: HoldRefusal, availableNanousd: bigint | null = null): LedgerOutcome {
  return { kind: 'hold_refused', reason, availableNanousd };
}

function sumsTo(parts: readonly bigint[], total: bigint): boolean {
  return parts.every((part) => part >= 0n) && parts.reduce((sum, part) => sum + part, 0n) === total;
}

function windowNameOf(keyId: bigint, window: CapWindow, ms: number): string {
  return `${keyId} ${window} ${windowSpan(window, ms).startMs}`;
}

function openReceipt(hold: HoldOperation, priceVersion: string): Mutable<Receipt> {
  return {
    id: hold.id,
    accountId: hold.accountId,
    keyId: hold.keyId,
    state: 'open',
    route: hold.route,
    stream: hold.stream,
    requestedModel: hold.requestedModel,
    effectiveModel: hold.effectiveModel,
    priceVersion,
    heldNanousd: hold.amountNanousd,
    createdMs: hold.createdMs,
    labels: hold.labels,
    endedMs: null,
    ended: null,
    httpStatus: null,
    usageSource: 'none',
    usage: null,
    components: null,
    costNanousd: 0n,
    host: null,
    attempts: 0,
    lossNanousd: 0n,
    lossReason: null,
  };
}

function byId(a: { readonly id: bigint }, b: { readonly id: bigint }): number {
  return a.id < b.id ? -1 : 1;
}

function pageOf<Row extends { readonly id: bigint }>(rows: readonly Row[], page: Page): Row[] {
  const rest = page.after === null ? rows : rows.filter((row) => row.id > page.after!);
  return rest.slice(0, Math.min(page.limit, LIMITS.storePageRowsMax));
}
