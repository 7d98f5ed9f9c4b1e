import type { Receipt } from '../../canonical/receipt.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import type { FeedReads } from '../call-feed.ts';
import type { Directory } from '../directory.ts';
import type { Credit, Entry, EntryPage } from '../entries.ts';
import { isOver } from '../idempotency.ts';
import type { JobStore } from '../jobs.ts';
import type { Rotation, RotationOutcome } from '../key-secrets.ts';
import type { KeySpending } from '../key-uses.ts';
import { NO_LOSS } from '../loss-allowance.ts';
import { countExpired, isRecent } from '../month-tree.ts';
import type { ReceiptArchive } from '../receipt-archive.ts';
import { MoneyRules } from '../rules/money-rules.ts';
import { windowNameOf } from '../rules/rows.ts';
import {
  type AcceptedLoss,
  type Account,
  type AccountReceiptFilter,
  type Beat,
  type ChangedKey,
  type CreditOperation,
  DIED_REASON,
  type Instance,
  KEY_PERMISSIONS,
  type KeyChange,
  type KeyCreation,
  type KeyRow,
  type KeyWindow,
  type LedgerOperation,
  type LedgerOutcome,
  type NewAccount,
  type NewKey,
  type NewProviderKey,
  type Page,
  type ProviderKeyPut,
  type ProviderKeyRow,
  type ProviderKeyUse,
  type Reaping,
  type ReceiptFilter,
  type ReceiptPage,
  type ReceiptSlice,
  type Store,
  type StoreHealth,
  type VerifyProgress,
  type VerifyReport,
} from '../store.ts';
import type { UsageStore } from '../usage-store.ts';
import { startOfDayMs, windowSpan } from '../windows.ts';
import { sliceOf } from './account-receipts.ts';
import { memoryFeed } from './call-feed.ts';
import { creditsOf, entriesOf } from './entries.ts';
import { keyRefusal, memoryDirectory } from './memory-directory.ts';
import { memoryJobs, reservedOf } from './memory-jobs.ts';
import { byId, MemoryRows, pageOf } from './memory-rows.ts';

const NO_ARCHIVE: ReceiptArchive = {
  run: () => Promise.reject(new Error('The memory driver has no archive.')),
  check: () => Promise.reject(new Error('The memory driver has no archive.')),
  find: async () => null,
  leafOf: async () => null,
};

/** Reports and lists of refused calls are SQL. Tests of them use the other engines. */
const NO_USAGE: UsageStore = {
  report: () => Promise.reject(new Error('The memory driver has no usage reports.')),
  noteRefusals: () => Promise.resolve(),
  listRefusals: () => Promise.resolve([]),
  hostLosses: () => Promise.reject(new Error('The memory driver has no usage reports.')),
};

/** A store in plain maps, for tests. Everything is lost when the process ends. */
export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #rows = new MemoryRows();
  readonly #operations: MoneyRules;
  readonly directory: Directory;
  readonly callFeed: FeedReads;
  readonly usage: UsageStore = NO_USAGE;
  readonly jobs: JobStore;
  readonly archive: ReceiptArchive = NO_ARCHIVE;
  /** Nothing is closed here. */
  readonly proofs: Store['proofs'] = { prove: async () => null };

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#operations = new MoneyRules(this.#rows, clock);
    this.directory = memoryDirectory(this.#rows);
    this.callFeed = memoryFeed(this.#rows);
    this.jobs = memoryJobs(this.#rows);
  }

  async apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    if (operations.length > 0) this.#rows.todayMs = Math.max(this.#rows.todayMs, startOfDayMs(this.#clock.nowMs()));
    return operations.map((operation) => {
      try {
        return this.#operations.apply(operation);
      } catch (error) {
        return { kind: 'operation_failed', message: String(error) };
      }
    });
  }

  async beginInstance(): Promise<Instance> {
    this.#rows.epoch += 1n;
    this.#rows.epochs.clear();
    this.#rows.epochs.add(this.#rows.epoch);
    const open = [...this.#rows.calls.values()].filter((call) => call.receipt.state === 'open');
    for (const call of open) this.#operations.void(call.receipt.id, DIED_REASON);
    const { epoch, lastCallId } = this.#rows;
    return { number: Number(epoch % 1024n), epoch, lastCallId, voidedHolds: open.length, replaced: null };
  }

  async heartbeat(epoch: bigint): Promise<Beat | null> {
    return epoch === this.#rows.epoch ? { lastCallId: this.#rows.lastCallId } : null;
  }

  async reap(): Promise<Reaping> {
    return { voided: 0, stuck: null };
  }

  async shareRequests(): Promise<ReadonlyMap<bigint, number>> {
    return new Map();
  }

  async registerPrices(version: string, pricesJson: string): Promise<number> {
    const { prices } = this.#rows;
    const [number, list] = [...prices].find(([, known]) => known.version === version) ?? [];
    if (number === undefined) return prices.set(prices.size + 1, { version, pricesJson }).size;
    if (list?.pricesJson !== pricesJson)
      throw new Error(`Price list ${version} is already registered with other prices.`);
    return number;
  }

  async createAccount(account: NewAccount): Promise<'created' | 'name_taken'> {
    if ([...this.#rows.accounts.values()].some((other) => other.name === account.name)) return 'name_taken';
    if (this.#rows.accounts.has(account.id)) throw new Error(`The id ${account.id} is already in use.`);
    const nothing = { balanceNanousd: 0n, heldNanousd: 0n, reservedNanousd: 0n, spentNanousd: 0n, ...NO_LOSS };
    this.#rows.accounts.set(account.id, { ...account, ...nothing, status: 'active', version: 1n });
    return 'created';
  }

  async findAccount(idOrName: bigint | string): Promise<Account | null> {
    const account = [...this.#rows.accounts.values()].find((one) => one.id === idOrName || one.name === idOrName);
    return account === undefined ? null : { ...account };
  }

  async listAccounts(page: Page): Promise<Account[]> {
    return pageOf([...this.#rows.accounts.values()].sort(byId), page).map((account) => ({ ...account }));
  }

  async createKey(key: NewKey): Promise<KeyCreation> {
    if (!this.#rows.accounts.has(key.accountId)) return 'no_account';
    const refusal = key.personId === null ? null : keyRefusal(this.#rows, key.accountId, key.personId);
    if (refusal !== null) return refusal;
    const taken = [...this.#rows.keys.values()].some(
      (other) => other.id === key.id || other.sha256Hex === key.sha256Hex,
    );
    if (taken) throw new Error(`The key ${key.id} or its hash is already in use.`);
    const working = { revokedMs: null, disabledMs: null, personDisabledMs: null, replaced: null, usedMs: null };
    const { note = null, maxCostNanousd = null, ownerTerms = {} } = key;
    const version = ++this.#rows.keyVersion;
    this.#rows.keys.set(key.id, { ...key, ...working, note, maxCostNanousd, ownerTerms, version });
    return 'created';
  }

  async updateKey(id: bigint, change: KeyChange, _?: unknown, version: bigint | null = null): Promise<ChangedKey> {
    const key = this.#rows.keys.get(id);
    if (key === undefined) return null;
    if (version !== null && key.version !== version) return 'version_conflict';
    const { allow = [], deny = [], ...rest } = change;
    const permissions = KEY_PERMISSIONS.filter(
      (one) => (key.permissions.includes(one) || allow.includes(one)) && !deny.includes(one),
    );
    const changed = { ...key, ...rest, permissions, version: ++this.#rows.keyVersion };
    this.#rows.keys.set(id, changed);
    return changed;
  }

  async rotateKey(id: bigint, { secret, oldExpiresMs: expiresMs, version }: Rotation): Promise<RotationOutcome> {
    const key = this.#rows.keys.get(id);
    if (key === undefined) return 'no_key';
    if (key.revokedMs !== null) return 'revoked';
    if (version !== undefined && key.version !== version) return 'version_conflict';
    const replaced = { sha256Hex: key.sha256Hex, expiresMs };
    this.#rows.keys.set(id, { ...key, ...secret, replaced, version: ++this.#rows.keyVersion });
    return 'rotated';
  }

  async spendingOf(keys: readonly { readonly id: bigint }[]): Promise<ReadonlyMap<bigint, KeySpending>> {
    const windows = await Promise.all(keys.map(({ id }) => this.keyWindow(id)));
    return new Map(
      windows.flatMap((window, at) => {
        if (window === null) return [];
        const { spentNanousd, heldNanousd, reservedNanousd, resetsMs } = window;
        return [[keys[at]!.id, { spentNanousd, heldNanousd, reservedNanousd, resetsMs }] as const];
      }),
    );
  }

  async noteKeyUses(uses: ReadonlyMap<bigint, number>): Promise<void> {
    for (const [id, usedMs] of uses) {
      const key = this.#rows.keys.get(id);
      if (key !== undefined && (key.usedMs ?? 0) < usedMs) this.#rows.keys.set(id, { ...key, usedMs });
    }
  }

  async findKeyByHash(sha256Hex: string): Promise<KeyRow | null> {
    const hasHash = (key: KeyRow): boolean => key.sha256Hex === sha256Hex || key.replaced?.sha256Hex === sha256Hex;
    return [...this.#rows.keys.values()].find(hasHash) ?? null;
  }

  async findKey(id: bigint): Promise<KeyRow | null> {
    return this.#rows.keys.get(id) ?? null;
  }

  async listKeys(accountId: bigint | null, page: Page): Promise<KeyRow[]> {
    const keys = [...this.#rows.keys.values()].filter((key) => accountId === null || key.accountId === accountId);
    return pageOf(keys.sort(byId), page);
  }

  async keysChangedSince(version: bigint | null): Promise<{ version: bigint; keys: KeyRow[] }> {
    if (version === null) return { version: this.#rows.keyVersion, keys: [] };
    const changed = [...this.#rows.keys.values()].filter((key) => key.version > version);
    const keys = changed.sort((a, b) => (a.version < b.version ? -1 : 1)).slice(0, LIMITS.storePageRowsMax);
    return { version: keys.at(-1)?.version ?? version, keys };
  }

  async keyWindow(keyId: bigint): Promise<KeyWindow | null> {
    const key = this.#rows.keys.get(keyId);
    if (key === undefined) return null;
    const spend = this.#rows.windows.get(windowNameOf(keyId, key.capWindow, this.#operations.windowTimeMs));
    const span = windowSpan(key.capWindow, this.#operations.windowTimeMs);
    return { window: key.capWindow, ...span, ...(spend ?? { spentNanousd: 0n, heldNanousd: 0n, reservedNanousd: 0n }) };
  }

  async putProviderKey(row: NewProviderKey, _audit?: unknown, replaces?: bigint): Promise<ProviderKeyPut> {
    const account = this.#rows.accounts.get(row.accountId);
    if (account?.status === 'closed') return 'account_closed';
    if (account === undefined) throw new Error(`There is no account ${row.accountId}.`);
    const before = await this.findProviderKey(row.accountId, row.provider);
    if (replaces !== undefined && before?.id !== replaces) return 'changed';
    if (before?.id !== row.id && this.#rows.providerKeys.has(row.id)) throw new Error(`The id ${row.id} is in use.`);
    if (before !== null) this.#rows.providerKeys.delete(before.id);
    const createdMs = before?.createdMs ?? row.createdMs;
    this.#rows.providerKeys.set(row.id, { ...row, createdMs, rejectedMs: null, usedMs: null });
    return 'stored';
  }

  async noteProviderKeyUse(id: bigint, { usedMs, rejected }: ProviderKeyUse): Promise<void> {
    const row = this.#rows.providerKeys.get(id);
    if (row === undefined) return;
    const rejectedMs = rejected === true ? (row.rejectedMs ?? usedMs) : rejected === false ? null : row.rejectedMs;
    this.#rows.providerKeys.set(id, { ...row, usedMs, rejectedMs });
  }

  async findProviderKey(accountId: bigint, provider: string): Promise<ProviderKeyRow | null> {
    return (await this.listProviderKeys(accountId)).find((row) => row.provider === provider) ?? null;
  }

  async listProviderKeys(accountId: bigint): Promise<ProviderKeyRow[]> {
    const rows = [...this.#rows.providerKeys.values()].filter((row) => row.accountId === accountId);
    return rows.sort((a, b) => (a.provider < b.provider ? -1 : 1)).slice(0, LIMITS.storePageRowsMax);
  }

  async deleteProviderKey(accountId: bigint, provider: string): Promise<boolean> {
    const row = await this.findProviderKey(accountId, provider);
    return row !== null && this.#rows.providerKeys.delete(row.id);
  }

  async providerKeysAfter(id: bigint | null, limit: number): Promise<ProviderKeyRow[]> {
    return pageOf([...this.#rows.providerKeys.values()].sort(byId), { limit, after: id });
  }

  async resealProviderKey(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean> {
    const row = this.#rows.providerKeys.get(id);
    if (row === undefined || Buffer.compare(row.sealed, before) !== 0) return false;
    this.#rows.providerKeys.set(id, { ...row, sealed: after });
    return true;
  }

  async findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    const receipt = this.#rows.calls.get(id)?.receipt;
    if (receipt === undefined || (accountId !== null && receipt.accountId !== accountId)) return null;
    return { ...receipt };
  }

  async listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]> {
    const matching = this.#rows
      .receipts()
      .filter(
        (receipt) =>
          (filter.accountId === null || receipt.accountId === filter.accountId) &&
          (filter.keyId === null || receipt.keyId === filter.keyId) &&
          (filter.sinceMs === null || receipt.createdMs >= filter.sinceMs) &&
          (page.after === null || receipt.id < page.after),
      );
    return pageOf(matching.reverse(), { limit: page.limit, after: null }).map((receipt) => ({ ...receipt }));
  }

  async listAccountReceipts(filter: AccountReceiptFilter, page: ReceiptPage): Promise<ReceiptSlice> {
    return sliceOf(this.#rows.receipts().reverse(), filter, page);
  }

  /** Recomputes the sums of each account from its receipts and credits. Nothing can change its closed receipts. */
  async verify(_progress?: (done: VerifyProgress) => void, sinceMonthMs: number | null = null): Promise<VerifyReport> {
    const compared = [...this.#rows.months].filter(([, monthMs]) => monthMs >= (sinceMonthMs ?? monthMs));
    const receipts = [...this.#rows.forgotten, ...this.#rows.receipts()];
    const open = receipts.filter((receipt) => receipt.state === 'open');
    return {
      accounts: this.#rows.accounts.size,
      keys: this.#rows.keys.size,
      receipts: receipts.length - open.length,
      credits: this.#rows.credits.size - this.#refunds().length,
      refunds: this.#refunds().length,
      openHolds: open.length,
      lossNanousd: receipts.reduce((sum, receipt) => sum + receipt.lossNanousd, 0n),
      closedMonths: new Set(compared.map(([, monthMs]) => monthMs)).size,
      closedReceipts: compared.filter(([id]) => this.#rows.calls.has(id)).length,
      sinceMonthMs,
      notKept: this.#rows.forgotten.length,
      withoutTree: 0,
      violations: [...this.#rows.accounts.values()].flatMap((account) => this.#violations(account, receipts)),
    };
  }

  #violations(account: Account, receipts: readonly Receipt[]): string[] {
    const own = receipts.filter((receipt) => receipt.accountId === account.id);
    const spent = own.reduce((sum, receipt) => sum + receipt.costNanousd, 0n);
    const held = own.reduce((sum, receipt) => sum + (receipt.state === 'open' ? receipt.heldNanousd : 0n), 0n);
    const credited = [...this.#rows.credits.values()].reduce(
      (sum, credit) => sum + (credit.accountId === account.id ? credit.amountNanousd : 0n),
      0n,
    );
    const exact =
      spent === account.spentNanousd &&
      held === account.heldNanousd &&
      reservedOf(this.#rows, account.id) === account.reservedNanousd &&
      credited - spent === account.balanceNanousd;
    return exact ? [] : [`Account ${account.id} does not equal the sum of its entries.`];
  }

  #refunds(): CreditOperation[] {
    return [...this.#rows.credits.values()].filter(({ callId }) => callId != null);
  }

  async refundsOf(callIds: readonly bigint[]): Promise<ReadonlyMap<bigint, bigint>> {
    return new Map([...this.#rows.refunds].filter(([id]) => callIds.includes(id)));
  }

  async findCredit(accountId: bigint, reference: string): Promise<Credit | null> {
    return creditsOf(this.#rows, accountId).find((credit) => credit.reference === reference) ?? null;
  }

  async listEntries(accountId: bigint, page: EntryPage): Promise<Entry[]> {
    return entriesOf(this.#rows, accountId, page);
  }

  async acceptedLosses(): Promise<AcceptedLoss[]> {
    return [];
  }

  async closeBooks(forgetBeforeMs: number | null): Promise<{ closed: number; forgotten: number }> {
    let closed = 0;
    for (const receipt of this.#rows.receipts()) {
      if (receipt.id <= this.#rows.closedUpTo) continue;
      const nowMs = this.#clock.nowMs();
      if (receipt.state === 'open' || isRecent(receipt.createdMs, nowMs)) break;
      this.#rows.close(receipt, nowMs);
      closed += 1;
    }
    const forgotten = forgetBeforeMs === null ? [] : this.#expired(forgetBeforeMs);
    for (const receipt of forgotten) this.#rows.calls.delete(receipt.id);
    this.#rows.forgotten.push(...forgotten);
    return { closed, forgotten: forgotten.length };
  }

  #expired(beforeMs: number): Receipt[] {
    const closed = this.#rows.receipts().filter(({ id }) => id <= this.#rows.closedUpTo);
    const times = closed.map(({ createdMs }) => createdMs);
    return closed.slice(0, countExpired(times, beforeMs, this.#clock.nowMs()));
  }

  async sweepIdempotencyKeys(): Promise<number> {
    const all = [...this.#rows.idempotencyKeys];
    const over = all.filter(([, row]) => isOver(row, this.#clock.nowMs()));
    for (const [name] of over) this.#rows.idempotencyKeys.delete(name);
    return over.length;
  }

  sweepWindows = async () => this.#rows.forgetWindows(this.#clock.nowMs());
  cacheSizes = async () => [];

  async health(): Promise<StoreHealth> {
    return { ok: true, reason: null, mayAdmit: true };
  }

  async close(): Promise<void> {}
}
