/** Limits of the ledger, of the store under it, and of its maintenance. */
export const STORE_LIMITS = {
  /** Calls that SQLite's writer adds to the lists of their accounts at a time. */
  storeListedRows: 8_192,
  /** Rows in one page of a listing. */
  storePageRowsMax: 1000,
  /** Rows that one request for an account's receipts looks at; the next request goes on from there. */
  receiptsExaminedMax: 10_000,
  /** Lists of receipts and jobs that the keys of one account read at the same time. */
  listsPerAccountMax: 8,
  /** Rows of lists that one account, or one person, reads per second, and seconds of them that may be read at once. */
  listRowsPerSecond: 5_000,
  listBurstS: 4,
  /** A call's id may be made this long before its hold (a slow body), and this long after (a clock set back). */
  storeIdLeadMs: 3_600_000,
  storeIdLagMs: 60_000,
  /** Operations in one commit, commits in flight, and queued operations. */
  ledgerBatchMax: 512,
  ledgerBatchesInFlightMax: 1,
  ledgerQueueMax: 100_000,
  /** Queued operations above which new holds are refused, so that settlements still find room. */
  ledgerHoldQueueMax: 20_000,
  /** Pause between attempts to settle while the store is unavailable. */
  settleRetryMs: 500,
  /** How often the store's health is checked, and how often while it is not healthy. */
  storeHealthMs: 5_000,
  storeIllnessMs: 500,
  /** Readiness: how old the last hold may be as evidence, and how long a test hold may take. */
  admissionFreshMs: 1_000,
  admissionProbeMs: 1_000,
  /** How far the clock may be behind the ledger's last call before that is reported, and how often it is compared. */
  clockBehindMs: 60_000,
  clockCheckMs: 60_000,
  /** PostgreSQL: connections for the ledger and for reads, and timeouts for connecting, answers, reads and idle connections. */
  postgresLedgerLines: 2,
  postgresReadersMax: 8,
  /** Connections for what a call needs to be admitted. */
  postgresAdmittersMax: 2,
  postgresConnectMs: 5_000,
  postgresAnswerMs: 10_000,
  postgresReadMs: 60_000,
  postgresIdleMs: 30_000,
  /** PostgreSQL timeouts of a batch: waiting for locks, one statement, and idle inside its transaction. */
  postgresLockMs: 6_000,
  postgresStatementMs: 8_000,
  postgresSilenceMs: 3_000,
  /** A change of the tables waits this long for the lock of a table, and is tried this often: meanwhile every other query of the table waits behind it. */
  postgresSchemaLockMs: 5_000,
  postgresSchemaTries: 12,
  /** First and longest pause between attempts to reach an unavailable database; doubles in between. The longest is no more than a heartbeat, or others declare this process dead. */
  postgresRetryFirstMs: 100,
  postgresRetryLastMs: 1_000,
  /** How long a caller waits to learn the outcome of a commit whose answer was lost. */
  postgresDoubtMs: 5_000,
  /** How often a batch, or a statement by itself, that conflicted with another is tried. */
  postgresCollisionsMax: 5,
  /** Timeout of a heartbeat in the database, shorter than the wait of the process that sent it. */
  postgresPulseMs: 2_500,
  /** How often a process sends a heartbeat, and the silence after which it stops admitting, is dead, and leaves no row if it holds nothing. */
  instanceHeartbeatMs: 1_000,
  instanceSilentMs: 3_000,
  instanceDeadMs: 5_000,
  instanceForgottenMs: 90 * 24 * 3_600_000,
  /** How often processes share their request counts, how long a count is kept, and how many exchanges pass between sweeps. */
  requestShareMs: 250,
  requestCountMs: 60_000,
  requestSweepExchanges: 100,
  /** Longest name of a model, route or host that the store's index accepts. */
  storedNameCharsMax: 600,
  /** How long SQLite waits for another connection's lock. */
  storeBusyMs: 5_000,
  /** Pages of the write-ahead log before a commit checkpoints them; rarely, so that pages that change often are written once. */
  storeCheckpointPages: 4_000,
  /** The write-ahead log is reused and stays below this; what a long read made it grow beyond is freed. */
  storeLogBytesMax: 32 * 1024 * 1024,
  /** How often the mark is synced, the log checkpointed and the data folder checked; after how many of these an idle log is emptied; how often it is seen whether long reads have ended. */
  storeTickMs: 1_000,
  storeLogIdleTicks: 30,
  storeScannerIdleMs: 10_000,
  /** Accounts, keys, windows, holds and names that the writer caches between commits; on PostgreSQL, price lists with known numbers. */
  storeCachedRowsMax: 50_000,
  storePriceListsMax: 1_000,
  /** Rows that one step of verifying, closing, deleting or recovering handles before other work gets a turn. */
  storeSliceRows: 20_000,
  storeWriteSliceRows: 250,
  /** Calls that a command closes or deletes in one slice if no server runs, so that no call waits for it. */
  storeAloneSliceRows: 5_000,
  /** Calls that PostgreSQL closes or deletes in one slice: they are hashed in the thread that serves calls. */
  postgresClosingRows: 500,
  /** Pause after a slice of calls was closed or deleted, and how often it is read again because a call was added to it. */
  closingPauseMs: 5,
  closingAttemptsMax: 3,
  /** Calls younger than this are not closed, because a hold with an older id could still arrive. */
  closingAgeMs: 3_600_000,
  /** How often receipts are closed. Usage reports read those that are not, one by one. */
  closingPeriodMs: 590_000,
  /** How long the spending of a key or a person in a day, week or month is kept, from its beginning: longer than a job waits and a month lasts. */
  windowKeptMs: 90 * 24 * 3_600_000,
  /** Free disk space below which no new call is admitted; running calls still settle. */
  diskFreeBytesMin: 256 * 1024 * 1024,
  /** How long after its start a server first runs its maintenance. */
  bookkeepingFirstMs: 60_000,
  /** How soon maintenance that failed is tried again. */
  bookkeepingRetryMs: 300_000,
  /** Copying a ledger: rows and bytes of one commit, and how many differences are listed. */
  copyPageRows: 2_000,
  copyPageBytes: 8 * 1024 * 1024,
  copyFaultsTold: 20,
  /** Receipts of one block of an archive file, its size when it is read, and the manifests that are kept in memory. */
  archiveBlockReceipts: 500,
  archiveBlockBytesMax: 256 * 1024 * 1024,
  archiveManifestsKept: 24,
} as const;
