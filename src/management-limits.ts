/** Limits of people, their sign-in and the management API. */
export const MANAGEMENT_LIMITS = {
  emailCharsMax: 254,
  /** The last events of a host that the management API shows. */
  hostEventsMax: 10,
  /** How long the link of an invitation works. */
  invitationMs: 24 * 60 * 60_000,
  /** How long invitations are listed after they have expired. */
  invitationKeptMs: 30 * 24 * 60 * 60_000,
  /** How long closing an account may wait for its running calls, and how often it looks. */
  accountCloseWaitMs: 600_000,
  accountClosePollMs: 250,
  managementKeyDaysMax: 366,
  /** Open invitations of one account. */
  openInvitationsMax: 100,
  /** Keys of one person in one account that are not revoked. */
  keysPerPersonMax: 100,
  /** How recently somebody must have signed in, or sent their password, to change how they sign in. */
  freshSignInMs: 10 * 60_000,
  /** How long the old secret of a key works after a rotation, unless the operator says otherwise, and at most. */
  keyGraceMs: 24 * 60 * 60_000,
  keyGraceMaxMs: 30 * 24 * 60 * 60_000,
  /** Requests to the management API that one caller may have under way, until it has read their responses. */
  managementRequestsMax: 16,
  /** Exports of lists that one caller may have under way. */
  managementExportsMax: 2,
  /** Rows of an export that are read and written at a time: calls wait meanwhile. */
  managementExportPageRows: 100,
  /** Feeds of receipts that are open: of one caller, and of all. */
  receiptFeedsPerCallerMax: 4,
  receiptFeedsMax: 100,
  /** Of these, places for accounts that have no feed, so that the people of one account cannot take them all. */
  receiptFeedsReserved: 50,
  /** How often the ledger is read for feeds, and how often a feed checks that its reader may still see it. */
  receiptFeedPollMs: 1_000,
  receiptFeedCheckMs: 1_000,
  receiptFeedKeepAliveMs: 15_000,
  /** Calls that one reading of the ledger looks at, and receipts that it sends; beyond that feeds have a gap. */
  receiptFeedCallsMax: 20_000,
  receiptFeedReceiptsMax: 500,
  /** Receipts that are kept for a reader who comes back, and for how long. */
  receiptFeedKeptMax: 200,
  receiptFeedKeptMs: 30_000,
  /** Filters of feeds that are read now or may be again. */
  receiptFeedChannelsMax: 200,
  /** What a reader may leave unread before it gets a gap instead. */
  receiptFeedUnreadBytesMax: 256 * 1024,
  /** By how much the clocks of processes that share a ledger may differ. */
  receiptFeedSkewMs: 5_000,
  /** How precisely the last use of a key is stored. */
  keyUseMs: 30_000,
  keyNoteCharsMax: 500,
  managementSecretCharsMax: 200,
  /** Longest name of a verb, and how often a command asks the server how far a verb is. */
  verbCharsMax: 64,
  operatorProgressMs: 1_000,
  /** How precisely the last use of a management key is stored. */
  managementUseMs: 60_000,
  passwordCharsMin: 12,
  passwordCharsMax: 256,
  /** Passwords that are hashed at the same time: each takes 19 MiB and one of the few threads that also read files. */
  passwordHashesMax: 2,
  /** Passwords that wait for their turn. */
  passwordQueueMax: 16,
  /** A session ends after this time without use. */
  sessionIdleMs: 12 * 60 * 60_000,
  /** A session ends after this time, however often it is used. */
  sessionMs: 7 * 24 * 60 * 60_000,
  /** How precisely the last use of a session is stored. */
  sessionUseMs: 60_000,
  /** A further one ends the oldest. */
  sessionsPerPersonMax: 50,
  sessionUserAgentCharsMax: 200,
  /** Rows of a usage report, and of each table that it is added up from. */
  usageRowsMax: 10_000,
  usagePartRowsMax: 200_000,
  /** Usage reports that run at the same time on PostgreSQL; SQLite runs one. Each account has one. */
  usageReportsMax: 4,
  /** Reports that wait for others to end: how many of one account and in total, and how long. */
  usageWaitingPerAccountMax: 8,
  usageWaitingMax: 64,
  usageWaitMs: 5_000,
  /** How long one statement of a usage report may run on PostgreSQL. */
  usageStatementMs: 15_000,
  /** Lists of groups or figures of a usage report. */
  usageWordsCharsMax: 500,
  /** Receipts that a usage report reads if the sums cannot answer it, and among how many it looks for them. */
  usageReceiptsMax: 200_000,
  usageExaminedMax: 1_000_000,
  /** Refused calls that are kept as rows: for how long, in total, and of one account. */
  refusalMs: 7 * 24 * 60 * 60_000,
  refusalsMax: 100_000,
  refusalsPerAccountMax: 1_000,
  refusalMessageCharsMax: 500,
  /** How often rows beyond the total are dropped; also after as many new ones as may wait. */
  refusalPruneMs: 300_000,
  /** How often they are written, and how many wait for that, in total and of one account. */
  refusalWriteMs: 2_000,
  refusalsWaitingMax: 5_000,
  refusalsWaitingPerAccountMax: 200,
  /** Keys and codes that are counted between two writes. */
  refusalCountsMax: 50_000,
  /** Failed sign-ins within the window: of one client, and for one email address, whoever tries it. */
  signInFailuresMax: 5,
  signInAddressFailuresMax: 50,
  /** Clients that have signed in with an address, for which the failures of others do not count. */
  signInKnownClientsMax: 10_000,
  signInWindowMs: 60_000,
  /** How long somebody may take at the provider of single sign-on. */
  ssoMs: 10 * 60_000,
  /** By how much the clocks of two processes may differ, one of which begins a sign-in that the other ends. */
  ssoSkewMs: 60_000,
  ssoSubjectCharsMax: 255,
  ssoRequestMs: 10_000,
  /** Longest answer of the provider that is read. */
  ssoAnswerBytesMax: 1024 * 1024,
  /** How long what the provider publishes about itself is cached. */
  ssoDiscoveryMs: 60 * 60_000,
  ssoUsedStatesMax: 10_000,
  /** Webhooks of one account, and of the operator. */
  webhooksPerAccountMax: 20,
  webhookNameCharsMax: 64,
  /** Types of events that one webhook names. */
  webhookEventsMax: 50,
  /** How long the old secret of a webhook still signs after a rotation: by default, and at most. */
  webhookGraceMs: 24 * 60 * 60_000,
  webhookGraceMaxMs: 30 * 24 * 60 * 60_000,
  /** Deliveries of one webhook that wait; further events are dropped and counted. Finished ones that are kept to look at. */
  webhookPendingMax: 10_000,
  webhookDeliveriesKept: 100,
  /** How often waiting deliveries are looked for, and how many run at the same time. */
  webhookPollMs: 2_000,
  webhookDeliveriesAtOnce: 32,
  /** Of these, deliveries of one account: it may have many receivers, all of them slow. */
  webhookAccountAtOnce: 6,
  /** Places only for accounts that have no delivery under way, so that a few slow ones cannot take them all. */
  webhookPlacesReserved: 16,
  /** Webhooks that are looked at to find those whose receiver is free: at first, by how much more, and at most. */
  webhookDueRows: 200,
  webhookDueRowsFactor: 8,
  webhookDueRowsMax: 12_800,
  /** Time between two deliveries to one webhook. */
  webhookIntervalMs: 200,
  /** Deliveries of one process to one origin at a time, and the time between two of them. */
  webhookOriginAtOnce: 4,
  webhookOriginIntervalMs: 50,
  /** How long a receiver may take, how much of its answer is read and thrown away, and how long other processes wait. */
  webhookAnswerMs: 15_000,
  webhookAnswerBytesMax: 64 * 1024,
  webhookLeaseMs: 45_000,
  /** Pause after the first failure, the factor for each further one, the longest pause, and when a delivery is given up. */
  webhookRetryFirstMs: 5_000,
  webhookRetryFactor: 3,
  webhookRetryLastMs: 4 * 60 * 60_000,
  webhookRetryForMs: 24 * 60 * 60_000,
  /** Longest pause of a whole webhook after failures: another event may be accepted where one is refused. */
  webhookPauseMaxMs: 10 * 60_000,
  /** How often alerts are checked, and how many accounts, keys and open alerts are checked each time. */
  alertRoundMs: 10_000,
  alertRoundRows: 200,
  /** Accounts and keys with new calls that are remembered between two checks; more are found by the sweep. */
  alertChangesMax: 10_000,
  /** How often every account and key is checked, and how many at a time. */
  alertSweepMs: 3_600_000,
  alertSweepRows: 200,
  /** How often losses are added up, how many calls at a time, and the pause after them. */
  alertLossesMs: 120_000,
  alertLossRows: 2_000,
  alertLossPauseMs: 10,
  /** A host or a disk that has the same fault again within this time is not reported again. */
  alertQuietMs: 3_600_000,
  /** The losses of an hour are not reported again if they are added up again after its end. */
  alertLossesQuietMs: 2 * 3_600_000,
  /** How often a process confirms its alerts about hosts and its disk. */
  alertConfirmMs: 30 * 60_000,
  /** Other processes may resolve an alert that was not confirmed for this long. */
  alertOrphanMs: 6 * 60 * 60_000,
  /** How long resolved alerts are kept, and how many alerts in all. */
  alertKeptMs: 90 * 24 * 60 * 60_000,
  alertsKept: 10_000,
  /** Accounts, and keys, that have metrics of their own; further ones are counted together. */
  payerSeriesMax: 1_000,
  /** How long sums of the whole store are shown before they are read again. */
  bookSumsMs: 10_000,
  /** Keys that sign receipts: how many, and how long a new one is listed before it signs. */
  receiptKeysMax: 100,
  receiptKeyOverlapMs: 60 * 60_000,
  /** How long clients may keep the list of these keys, and how long the gateway does. */
  receiptKeySetMaxAgeS: 300,
  receiptKeySetKeptMs: 5_000,
  /** How often the root of the month that grows is signed, if nobody asks for a proof earlier. */
  monthRootPeriodMs: 60 * 60_000,
  monthRootAttemptsMax: 20,
  /** Receipts of an account and month that are read to prove one which an earlier version closed. */
  proofReceiptsMax: 5_000,
  /** Email addresses and clients whose failures are remembered; the oldest is forgotten first. */
  signInCountersMax: 100_000,
  /** Prepared statements of jobs and of the directory that a connection to SQLite keeps. */
  statementsKept: 128,
} as const;
