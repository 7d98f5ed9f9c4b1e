import type { DatabaseSync } from 'node:sqlite';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CacheSize } from '../../kit/caches.ts';
import { type Clock, systemClock } from '../../kit/clock.ts';
import { findArchived, openArchive } from '../archive/open-archive.ts';
import type { FeedReads } from '../call-feed.ts';
import type { Directory } from '../directory.ts';
import type { Credit, Entry, EntryPage } from '../entries.ts';
import { type SlicePace, untilDone } from '../in-slices.ts';
import type { JobStore } from '../jobs.ts';
import type { Rotation, RotationOutcome } from '../key-secrets.ts';
import type { KeySpending } from '../key-uses.ts';
import type { AuditRow } from '../people.ts';
import { findCredit, listEntries, refundsOf } from '../programs/entries.ts';
import { forgetOldWindows } from '../programs/old-windows.ts';
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
  StoreUnavailable,
  type VerifyProgress,
  type VerifyReport,
} from '../store.ts';
import type { UsageStore } from '../usage-store.ts';
import { acceptedLosses } from './accepted-losses.ts';
import { AccountReader } from './accounts.ts';
import { ArchiveTurn, sqliteArchive } from './archive.ts';
import { fillBatchBuffer } from './batch-buffer.ts';
import { closeBooks, PACES } from './close-books.ts';
import { openToRead } from './database.ts';
import { runProgram } from './directory.ts';
import { sqliteDirectory } from './directory-store.ts';
import { diskHealth } from './disk-health.ts';
import { lastCallId } from './instances.ts';
import { sqliteJobs } from './jobs.ts';
import { KeyReader } from './keys.ts';
import { fullOutcome } from './lean-outcome.ts';
import type { Link } from './link.ts';
import { LinkOnDemand } from './link-on-demand.ts';
import { ProviderKeyReader } from './provider-keys.ts';
import { ReceiptReader } from './receipts.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import { StatementCache } from './statement-cache.ts';
import type { SqliteStoreOptions, StoreLinks, WriterPort } from './store-links.ts';
import { SyncedReads } from './synced-reads.ts';
import { sqliteUsage } from './usage.ts';
import { withViolations } from './verification.ts';
import { verifyLedger } from './verify.ts';
import type { CommitTimes } from './writer-memory.ts';
import type { WriterVerbs } from './writer-verbs.ts';

/** A store whose writer other threads can share. */
export interface SqliteStore extends Store {
  connectWriter(): WriterPort;
  /** The times of the batch of this thread that ended last. */
  readonly lastCommit: CommitTimes;
}

/** Writes in one thread, long reads in another, short reads in this one, so that none waits for another. */
export class ThreadedStore implements SqliteStore {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #links: StoreLinks;
  readonly #writer: Link<WriterVerbs>;
  readonly #reads: SyncedReads;
  readonly #reader: DatabaseSync;
  readonly #statements: StatementCache;
  readonly #accounts: AccountReader;
  readonly #keys: KeyReader;
  readonly #receipts: ReceiptReader;
  readonly #providerKeys: ProviderKeyReader;
  readonly directory: Directory;
  readonly callFeed: FeedReads;
  readonly usage: UsageStore;
  readonly jobs: JobStore;
  readonly archive: ReceiptArchive;
  readonly proofs: Store['proofs'] = { prove: (id, accountId) => this.#scan('prove', id, accountId) };
  readonly #scanner: Link<ScannerVerbs>;
  /** Verifying and closing exclude each other, because closing changes what verifying reads. */
  #bookkeeping: Promise<unknown> = Promise.resolve();
  readonly #archiving = new ArchiveTurn();
  readonly #pace: SlicePace;
  #epoch = 0n;
  #closed = false;

  constructor(options: SqliteStoreOptions, links: StoreLinks) {
    const { folder, clock, threads = true, archiveFolder = null } = options;
    this.#folder = folder;
    this.#clock = clock;
    this.#pace = threads ? PACES.besideCalls : PACES.alone;
    this.#reader = openToRead(folder);
    this.#statements = new StatementCache(this.#reader);
    this.#accounts = new AccountReader(this.#reader);
    this.#keys = new KeyReader(this.#reader);
    this.#receipts = new ReceiptReader(this.#reader);
    this.#providerKeys = new ProviderKeyReader(this.#reader);
    this.callFeed = {
      openCalls: (limit) => this.#scan('openCalls', limit),
      endedCalls: (fromId, sinceMs, limit) => this.#scan('endedCalls', fromId, sinceMs, limit),
      endedReceipts: (ids) => this.#scan('endedReceipts', ids),
    };
    this.usage = sqliteUsage({ scan: this.#scan, writer: () => this.#writer }, clock);
    this.#links = links;
    this.#writer = links.writer;
    // By real time: an idle thread takes memory whatever time a test has set.
    this.#scanner = new LinkOnDemand(links.openScanner, systemClock);
    this.#reads = new SyncedReads(links.memory, links.writer);
    const read = <Result>(run: () => Result): Promise<Result> => this.#read(run);
    this.directory = sqliteDirectory(this.#statements, this.#writer, read, this.#scan);
    this.jobs = sqliteJobs(this.#statements, this.#writer, read, this.#scan);
    const engine = sqliteArchive({
      directory: this.directory,
      inThread: threads,
      scan: this.#scan,
      writer: this.#writer,
      pace: this.#pace,
      nowMs: () => clock.nowMs(),
      inTurn: (run) => this.#inTurn(run),
      alone: (run) => this.#archiving.take(this.#bookkeeping, run),
    });
    this.archive = openArchive(engine, archiveFolder);
  }

  async ready(): Promise<void> {
    await this.#writer.call('ping');
  }

  connectWriter(): WriterPort {
    return this.#links.connectWriter();
  }

  get lastCommit(): CommitTimes {
    return this.#links.memory.lastCommit;
  }

  async apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    if (operations.length === 0) return [];
    const outcomes = await this.#writer.call('apply', fillBatchBuffer(operations), this.#clock.nowMs());
    return outcomes.map(fullOutcome);
  }

  async beginInstance(): Promise<Instance> {
    const epoch = await this.#writer.call('beginEpoch', this.#clock.nowMs());
    const voidedHolds = await untilDone(() => this.#writer.call('voidSlice', this.#clock.nowMs()));
    this.#epoch = epoch;
    const number = Number(epoch % 1024n);
    return { number, epoch, lastCallId: lastCallId(this.#reader), voidedHolds, replaced: null };
  }

  /** One process has the folder while it runs. */
  async heartbeat(epoch: bigint): Promise<Beat | null> {
    return epoch === this.#epoch ? { lastCallId: lastCallId(this.#reader) } : null;
  }

  async reap(): Promise<Reaping> {
    return { voided: 0, stuck: null };
  }

  async shareRequests(): Promise<ReadonlyMap<bigint, number>> {
    return new Map();
  }

  async refundsOf(callIds: readonly bigint[]): Promise<ReadonlyMap<bigint, bigint>> {
    return this.#read(() => runProgram(this.#statements, refundsOf(callIds)));
  }

  async findCredit(accountId: bigint, reference: string): Promise<Credit | null> {
    return this.#read(() => runProgram(this.#statements, findCredit(accountId, reference)));
  }

  async listEntries(accountId: bigint, page: EntryPage): Promise<Entry[]> {
    return this.#read(() => runProgram(this.#statements, listEntries(accountId, page)));
  }

  registerPrices(version: string, pricesJson: string): Promise<number> {
    return this.#writer.call('registerPrices', this.#clock.nowMs(), version, pricesJson);
  }

  createAccount(account: NewAccount, audit?: AuditRow): Promise<'created' | 'name_taken'> {
    return this.#writer.call('createAccount', account, audit);
  }

  async findAccount(idOrName: bigint | string): Promise<Account | null> {
    return this.#read(() => this.#accounts.find(idOrName));
  }

  listAccounts(page: Page): Promise<Account[]> {
    return this.#scan('listAccounts', page);
  }

  createKey(key: NewKey, audit?: AuditRow): Promise<KeyCreation> {
    return this.#writer.call('createKey', key, audit);
  }

  updateKey(id: bigint, change: KeyChange, audit?: AuditRow, version: bigint | null = null): Promise<ChangedKey> {
    return this.#writer.call('updateKey', id, change, audit, version);
  }

  rotateKey(id: bigint, rotation: Rotation, audit?: AuditRow): Promise<RotationOutcome> {
    return this.#writer.call('rotateKey', id, rotation, audit);
  }

  spendingOf(keys: Parameters<Store['spendingOf']>[0]): Promise<ReadonlyMap<bigint, KeySpending>> {
    const windows = keys.map(({ id, capWindow }) => ({ id, capWindow }));
    return this.#scan('spendingOf', windows, this.#clock.nowMs());
  }

  noteKeyUses(uses: ReadonlyMap<bigint, number>): Promise<void> {
    return this.#writer.call('noteKeyUses', uses);
  }

  async findKeyByHash(sha256Hex: string): Promise<KeyRow | null> {
    return this.#read(() => this.#keys.findByHash(sha256Hex));
  }

  async findKey(id: bigint): Promise<KeyRow | null> {
    return this.#read(() => this.#keys.find(id));
  }

  listKeys(accountId: bigint | null, page: Page): Promise<KeyRow[]> {
    return this.#scan('listKeys', accountId, page);
  }

  async keysChangedSince(version: bigint | null): Promise<{ version: bigint; keys: KeyRow[] }> {
    return this.#read(() => this.#keys.changedSince(version));
  }

  async keyWindow(keyId: bigint): Promise<KeyWindow | null> {
    return this.#read(() => this.#keys.window(keyId, this.#clock.nowMs()));
  }

  putProviderKey(row: NewProviderKey, audit?: AuditRow, replaces?: bigint): Promise<ProviderKeyPut> {
    return this.#writer.call('putProviderKey', row, audit, replaces);
  }

  noteProviderKeyUse(id: bigint, use: ProviderKeyUse): Promise<void> {
    return this.#writer.call('noteProviderKeyUse', id, use);
  }

  async findProviderKey(accountId: bigint, provider: string): Promise<ProviderKeyRow | null> {
    return this.#read(() => this.#providerKeys.find(accountId, provider));
  }

  async listProviderKeys(accountId: bigint): Promise<ProviderKeyRow[]> {
    return this.#read(() => this.#providerKeys.list(accountId));
  }

  deleteProviderKey(accountId: bigint, provider: string, audit?: AuditRow): Promise<boolean> {
    return this.#writer.call('deleteProviderKey', accountId, provider, audit);
  }

  async providerKeysAfter(id: bigint | null, limit: number): Promise<ProviderKeyRow[]> {
    return this.#read(() => this.#providerKeys.after(id, limit));
  }

  resealProviderKey(id: bigint, before: Uint8Array, after: Uint8Array): Promise<boolean> {
    return this.#writer.call('resealProviderKey', id, before, after);
  }

  async findReceipt(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    const kept = await this.#read(() => this.#receipts.find(id, accountId));
    return kept ?? findArchived(this.archive, id, accountId);
  }

  listReceipts(filter: ReceiptFilter, page: Page): Promise<Receipt[]> {
    return this.#scan('listReceipts', filter, page);
  }

  listAccountReceipts(filter: AccountReceiptFilter, page: ReceiptPage): Promise<ReceiptSlice> {
    return this.#scan('listAccountReceipts', filter, page);
  }

  verify(
    progress?: (done: VerifyProgress) => void,
    sinceMonthMs: number | null = null,
    usage = true,
  ): Promise<VerifyReport> {
    return this.#inTurn(async () => {
      // The writer's cached sums decide which calls are admitted and are in no row that could be read.
      const drift = await this.#writer.call('heldDrift', this.#clock.nowMs());
      const { openThread } = this.#links;
      const terms = { scan: this.#scan, openThread, nowMs: this.#clock.nowMs(), sinceMonthMs, usage };
      return withViolations(await verifyLedger({ ...terms, ...(progress && { progress }) }), drift);
    });
  }

  cacheSizes(): Promise<readonly CacheSize[]> {
    return this.#writer.call('cacheSizes');
  }

  async acceptedLosses(): Promise<AcceptedLoss[]> {
    return this.#read(() => acceptedLosses(this.#reader));
  }

  closeBooks(forgetBeforeMs: number | null): Promise<{ closed: number; forgotten: number }> {
    return this.#inTurn(() => {
      const terms = { scan: this.#scan, writer: this.#writer, pace: this.#pace, nowMs: this.#clock.nowMs() };
      return closeBooks({ ...terms, forgetBeforeMs: this.#archiving.isTaken ? null : forgetBeforeMs });
    });
  }

  sweepIdempotencyKeys(): Promise<number> {
    return untilDone(() => this.#writer.call('sweepSlice', this.#clock.nowMs()));
  }

  sweepWindows(): Promise<number> {
    const nowMs = this.#clock.nowMs();
    return this.#inTurn(() =>
      forgetOldWindows({
        pace: this.#pace,
        find: (name, after, limit) => this.#scan('nextOldWindows', name, after, nowMs, limit),
        forget: (name, windows) => this.#writer.call('forgetWindows', nowMs, name, windows),
      }),
    );
  }

  async health(): Promise<StoreHealth> {
    const broken = this.#writer.broken ?? this.#scanner.broken;
    if (broken !== null) return { ok: false, reason: broken.message, mayAdmit: false };
    try {
      await this.#writer.call('ping');
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error), mayAdmit: false };
    }
    return diskHealth(this.#folder);
  }

  /**
   * Closes readers first: the last connection folds the write-ahead log into the file, and only a writer can do that.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader.close();
    await this.#scanner.end();
    await this.#writer.end();
  }

  #read<Result>(run: () => Result): Promise<Result> {
    return this.#reads.read(run);
  }

  #scan: Link<ScannerVerbs>['call'] = async (verb, ...args) => {
    if (this.#closed) throw new StoreUnavailable('The store is closed.');
    return this.#reads.read(() => this.#scanner.call(verb, ...args));
  };

  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = this.#bookkeeping.then(run);
    this.#bookkeeping = turn.catch(() => undefined);
    return turn;
  }
}
