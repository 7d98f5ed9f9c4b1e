import type { Receipt } from '../../canonical/receipt.ts';
import type { CacheSize } from '../../kit/caches.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { findArchived, openArchive } from '../archive/open-archive.ts';
import type { FeedReads } from '../call-feed.ts';
import { type AcceptedLossColumns, acceptedLossOf } from '../columns.ts';
import type { Directory } from '../directory.ts';
import type { Credit, Entry, EntryPage } from '../entries.ts';
import { untilDone } from '../in-slices.ts';
import type { JobStore } from '../jobs.ts';
import type { Rotation, RotationOutcome } from '../key-secrets.ts';
import type { KeySpending } from '../key-uses.ts';
import type { AuditRow } from '../people.ts';
import { endedCalls, endedReceipts, openCalls } from '../programs/call-feed.ts';
import { findCredit, listEntries, refundsOf } from '../programs/entries.ts';
import type { ReceiptArchive } from '../receipt-archive.ts';
import {
  type AcceptedLoss,
  type Account,
  type AccountReceiptFilter,
  type Beat,
  type ChangedKey,
  type Instance,
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
  StoreRefused,
  type VerifyProgress,
  type VerifyReport,
} from '../store.ts';
import type { UsageStore } from '../usage-store.ts';
import { Accounts } from './accounts.ts';
import { postgresArchive } from './archive.ts';
import { BatchRunner } from './batch.ts';
import { closeInSlices, forgetWindows, sweepSlice } from './closing.ts';
import { Connections } from './connections.ts';
import { Dictionary } from './dictionary.ts';
import { postgresDirectory, postgresJobs, readProgram } from './directory.ts';
import { asUnavailable } from './faults.ts';
import { Instances } from './instances.ts';
import { Keys } from './keys.ts';
import { shareBookkeeping, takeBookkeeping, tryArchiveLock, underLock } from './locks.ts';
import { migrateIfBehind } from './migrate.ts';
import { checkUrl } from './pipeline.ts';
import { PriceLists } from './price-lists.ts';
import { postgresProofs } from './proofs.ts';
import { ProviderKeys } from './provider-keys.ts';
import { Receipts } from './receipts.ts';
import { Registrations } from './registration.ts';
import { RequestCounts } from './request-counts.ts';
import { whyUnfit, whyUnsafe } from './settings.ts';
import { DatabaseTime, NOW_MS } from './time.ts';
import { postgresUsage } from './usage.ts';
import { Verification } from './verification.ts';

export interface PostgresStoreOptions {
  readonly url: string;
  readonly clock: Clock;
  /** The ledger's own connections, and so the most batches at once. */
  readonly lines?: number;
  /** False takes the time from the clock instead of the database, for tests. */
  readonly databaseTime?: boolean;
  /** Where archived receipts are looked for; null: nowhere. */
  readonly archiveFolder?: string | null;
}

/** A store that several processes share, with the clock that they share too. */
export interface SharedStore extends Store {
  readonly clock: Clock;
}

/** Opens the ledger in that database, creating or migrating its tables. Several processes may open it at once. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { url, clock, databaseTime = true, lines = LIMITS.postgresLedgerLines, archiveFolder = null } = options;
  checkUrl(url);
  const connections = new Connections(url, clock, lines);
  try {
    const refusal = (await whyUnsafe(connections)) ?? (await whyUnfit(connections));
    if (refusal !== null) throw new StoreRefused(refusal);
    await migrateIfBehind(connections, url);
    const time = new DatabaseTime(clock, databaseTime);
    const [now] = await connections.query<{ now_ms: bigint }>(`SELECT ${NOW_MS}`);
    time.set(now!.now_ms);
    return new PostgresStore(connections, time, clock, archiveFolder);
  } catch (error) {
    await connections.close();
    throw error;
  }
}

class PostgresStore implements SharedStore {
  readonly #connections: Connections;
  readonly #time: DatabaseTime;
  readonly clock: Clock;
  readonly #runner: BatchRunner;
  readonly #instances: Instances;
  readonly #requestCounts: RequestCounts;
  readonly #accounts: Accounts;
  readonly #prices: PriceLists;
  readonly #keys: Keys;
  readonly #providerKeys: ProviderKeys;
  readonly #receipts: Receipts;
  readonly directory: Directory;
  readonly callFeed: FeedReads;
  readonly usage: UsageStore;
  readonly jobs: JobStore;
  readonly archive: ReceiptArchive;
  readonly proofs: Store['proofs'];

  constructor(connections: Connections, time: DatabaseTime, clock: Clock, archiveFolder: string | null) {
    const nowMs = () => time.nowMs();
    this.#connections = connections;
    this.#time = time;
    this.clock = { nowMs, monotonicMs: () => clock.monotonicMs(), after: (...timer) => clock.after(...timer) };
    const registrations = new Registrations();
    this.#prices = new PriceLists(connections);
    this.#runner = new BatchRunner(connections, new Dictionary(connections, this.#prices), registrations, nowMs);
    this.#instances = new Instances(connections, registrations, this.#runner, time);
    this.#requestCounts = new RequestCounts(connections, clock, () => registrations.current?.epoch ?? null);
    registrations.onForget(() => this.#requestCounts.forget());
    this.#accounts = new Accounts(connections);
    this.#keys = new Keys(connections, nowMs);
    this.#providerKeys = new ProviderKeys(connections);
    this.#receipts = new Receipts(connections);
    this.directory = postgresDirectory(connections);
    this.jobs = postgresJobs(connections);
    this.callFeed = {
      openCalls: (limit) => readProgram(connections, openCalls(limit)),
      endedCalls: (fromId, sinceMs, limit) => readProgram(connections, endedCalls(fromId, sinceMs, limit)),
      endedReceipts: (ids) => readProgram(connections, endedReceipts(ids)),
    };
    this.usage = postgresUsage(connections, clock, nowMs);
    this.proofs = postgresProofs(connections);
    this.archive = openArchive(postgresArchive(connections, this.directory), archiveFolder);
  }

  async apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    return operations.length === 0 ? [] : this.#runner.run(operations);
  }

  beginInstance(): Promise<Instance> {
    return this.#instances.begin();
  }

  heartbeat(epoch: bigint): Promise<Beat | null> {
    return this.#instances.heartbeat(epoch);
  }

  reap(): Promise<Reaping> {
    return this.#instances.reap();
  }

  shareRequests(taken: ReadonlyMap<bigint, number>): Promise<ReadonlyMap<bigint, number>> {
    return this.#requestCounts.exchange(taken);
  }

  refundsOf(callIds: readonly bigint[]): Promise<ReadonlyMap<bigint, bigint>> {
    return readProgram(this.#connections, refundsOf(callIds));
  }

  findCredit(accountId: bigint, reference: string): Promise<Credit | null> {
    return readProgram(this.#connections, findCredit(accountId, reference));
  }

  listEntries(accountId: bigint, page: EntryPage): Promise<Entry[]> {
    return readProgram(this.#connections, listEntries(accountId, page));
  }

  registerPrices(version: string, pricesJson: string): Promise<number> {
    return this.#prices.register(version, pricesJson);
  }

  createAccount(account: NewAccount, audit?: AuditRow): Promise<'created' | 'name_taken'> {
    return this.#accounts.create(account, audit);
  }

  findAccount(idOrName: bigint | string): Promise<Account | null> {
    return this.#accounts.find(idOrName);
  }

  listAccounts(page: Page): Promise<Account[]> {
    return this.#accounts.list(page);
  }

  createKey(key: NewKey, audit?: AuditRow): Promise<KeyCreation> {
    return this.#keys.create(key, audit);
  }

  updateKey(id: bigint, change: KeyChange, audit?: AuditRow, version: bigint | null = null): Promise<ChangedKey> {
    return this.#keys.update(id, change, audit, version);
  }

  rotateKey(id: bigint, rotation: Rotation, audit?: AuditRow): Promise<RotationOutcome> {
    return this.#keys.rotate(id, rotation, audit);
  }

  spendingOf(keys: Parameters<Store['spendingOf']>[0]): Promise<ReadonlyMap<bigint, KeySpending>> {
    return this.#keys.spendingOf(keys);
  }

  noteKeyUses(uses: ReadonlyMap<bigint, number>): Promise<void> {
    return this.#keys.noteUses(uses);
  }

  findKeyByHash(sha256Hex: string): Promise<KeyRow | null> {
    return this.#keys.findByHash(sha256Hex);
  }

  findKey(id: bigint): Promise<KeyRow | null> {
    return this.#keys.find(id);
  }

  listKeys(accountId: bigint | null, page: Page): Promise<KeyRow[]> {
    return this.#keys.list(accountId, page);
  }

  keysChangedSince(version: bigint | null): Promise<{ version: bigint; keys: KeyRow[] }> {
    return this.#keys.changedSince(version);
  }

  keyWindow(keyId: bigint): Promise<KeyWindow | null> {
    return this.#keys.window(keyId);
  }

  putProviderKey(row: NewProviderKey, audit?: AuditRow, replaces?: bigint): Promise<ProviderKeyPut> {
    return this.#providerKeys.put(row, audit, replaces);
  }

  noteProviderKeyUse(id: bigint, use: ProviderKeyUse): Promise<void> {
    return this.#providerKeys.noteUse(id, use);
  }

  findProviderKey(accountId: bigint, provider: string): Promise<ProviderKeyRow | null> {
    return this.#providerKeys.find(accountId, provider);
  }

  listProviderKeys(accountId: bigint): Promise<ProviderKeyRow[]> {
    return this.#providerKeys.list(accountId);
  }

  deleteProviderKey(accountId: bigint, provider: string, audit?: AuditRow): Promise<boolean> {
    return this.#providerKeys.delete(accountId, provider, audit);
  }

  providerKeysAfter(id: bigint | null, limit: number): Promise<ProviderKeyRow[]> {
    return this.#providerKeys.after(id, limit);
  }

  resealProviderKey(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean> {
    return this.#providerKeys.reseal(id, before, after);
  }

  async findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    return (await this.#receipts.find(id, accountId)) ?? findArchived(this.archive, id, accountId);
  }

  listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]> {
    return this.#receipts.list(filter, page);
  }

  listAccountReceipts(filter: AccountReceiptFilter, page: ReceiptPage): Promise<ReceiptSlice> {
    return this.#receipts.listOfAccount(filter, page);
  }

  /** Verifying and closing exclude each other across all processes, because closing changes what verifying reads. */
  verify(
    progress: (done: VerifyProgress) => void = () => undefined,
    sinceMonthMs: number | null = null,
    usage = true,
  ): Promise<VerifyReport> {
    const connections = this.#connections;
    const run = () => new Verification(connections, this.#time.nowMs(), sinceMonthMs, usage).run(progress);
    return underLock(connections, shareBookkeeping, run);
  }

  async acceptedLosses(): Promise<AcceptedLoss[]> {
    const rows = await this.#connections.query<AcceptedLossColumns>(
      'SELECT * FROM accepted_loss ORDER BY generation LIMIT $1',
      [LIMITS.storePageRowsMax],
    );
    return rows.map(acceptedLossOf);
  }

  closeBooks(forgetBeforeMs: number | null): Promise<{ closed: number; forgotten: number }> {
    const connections = this.#connections;
    const nowMs = this.#time.nowMs();
    return underLock(connections, takeBookkeeping, async (sql) => {
      const mayForget = forgetBeforeMs !== null && (await tryArchiveLock(sql));
      return closeInSlices(connections, nowMs, mayForget ? forgetBeforeMs : null);
    });
  }

  sweepIdempotencyKeys(): Promise<number> {
    return untilDone(() => sweepSlice(this.#connections, this.#time.nowMs()));
  }

  sweepWindows(): Promise<number> {
    return underLock(this.#connections, takeBookkeeping, () => forgetWindows(this.#connections, this.#time.nowMs()));
  }

  async cacheSizes(): Promise<readonly CacheSize[]> {
    return [...this.#runner.sizes(), ...this.#prices.sizes(), ...this.#requestCounts.sizes()];
  }

  async health(): Promise<StoreHealth> {
    const down = this.#connections.down;
    if (down !== null) return { ok: false, reason: down.message, mayAdmit: false };
    try {
      const unsafe = await whyUnsafe(this.#connections);
      return { ok: true, reason: unsafe, mayAdmit: unsafe === null };
    } catch (error) {
      return { ok: false, reason: asUnavailable(error).message, mayAdmit: false };
    }
  }

  async close(): Promise<void> {
    await this.#instances.leave();
    await this.#connections.close();
  }
}
