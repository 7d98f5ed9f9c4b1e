/** Every limit of the product in one place; a limit that is not here does not exist. */
export const LIMITS = {
  /** Largest request body a caller may send. */
  requestBodyBytesMax: 32 * 1024 * 1024,
  /** A call's body beyond this is large; those of calls under way may have so many bytes together, and of one key. */
  largeBodyBytes: 1024 * 1024,
  largeBodiesBytesMax: 512 * 1024 * 1024,
  largeBodiesBytesPerKeyMax: 128 * 1024 * 1024,
  /** Largest body of a request that is no call, as one that stores a key. */
  plainBodyBytesMax: 64 * 1024,
  /** A key spelt with a backslash counts as so many, and beside one there may be as many times fewer values: reading it is dear. */
  jsonEscapedKeyWeight: 10,
  /** Deepest nesting, most values, most keys, longest number and longest key of a JSON body; beyond, it is refused unread. */
  jsonDepthMax: 64,
  jsonNodesMax: 1_000_000,
  jsonKeysMax: 100_000,
  jsonNumberDigitsMax: 400,
  jsonKeyBytesMax: 4096,
  /** Deepest nesting of what a host sends: what is deeper could not be written again without a stack as deep. */
  hostJsonDepthMax: 1_000,
  /** Largest single server-sent event a host may send. */
  sseFrameBytesMax: 8 * 1024 * 1024,
  /** Most words of a model in one stream: some of them are kept until its end. */
  streamWordBytesMax: 16 * 1024 * 1024,
  /** Kinds of frames remembered from one stream of a host to the next, and the largest of them without its words. */
  cachedFramesMax: 4,
  cachedFrameBytesMax: 2048,
  /** Items of one answer, and parts of one item, on the wire that tells of both. */
  outputItemsMax: 1_024,
  /** Largest buffered answer a host may send. */
  responseBodyBytesMax: 64 * 1024 * 1024,
  /** Models in one catalog, other names of one model, price tiers of one model. */
  catalogModelsMax: 10_000,
  modelAliasesMax: 64,
  priceTiersMax: 16,
  /** Longest model id or alias. */
  modelIdCharsMax: 200,
  /** Dearest rate a price may name: one dollar a token, so that no sum of a request leaves int64. */
  rateNanousdPerMillionMax: 1_000_000_000_000_000,
  /** The most that is noted as lost on one call: counts nobody can mean must not make the sum of a year leave int64. */
  lossNanousdMax: 1_000_000_000_000,
  /** Rows of one page of any listing of the store. */
  storePageRowsMax: 1000,
  /** Operations of one commit; commits under way; operations that may wait for one. */
  ledgerBatchMax: 512,
  ledgerBatchesInFlightMax: 1,
  ledgerQueueMax: 100_000,
  /** Waiting operations at which new holds are refused, so that settlements still find room. */
  ledgerHoldQueueMax: 20_000,
  /** How soon a settlement is tried again while the store is away. */
  settleRetryMs: 500,
  /** How often the store is asked for its health, and how often once it was not well. */
  storeHealthMs: 5_000,
  storeIllnessMs: 500,
  /** PostgreSQL: the ledger's own connections, those of everybody else, how long opening one and an answer may take. */
  postgresLedgerLines: 2,
  postgresReadersMax: 8,
  postgresConnectMs: 5_000,
  postgresAnswerMs: 10_000,
  postgresReadMs: 60_000,
  postgresIdleMs: 30_000,
  /** A batch's wait for locks, each of its statements, and its owner's silence within it, after which others go on. */
  postgresLockMs: 6_000,
  postgresStatementMs: 8_000,
  postgresSilenceMs: 3_000,
  /**
   * A database that is away is tried again after so long, doubled each time, up to so long: no longer than between two
   * beats, or whoever is slower to notice that it is back is taken for dead by the others.
   */
  postgresRetryFirstMs: 100,
  postgresRetryLastMs: 1_000,
  /** How long who asked waits to hear what became of a commit whose answer was lost. */
  postgresDoubtMs: 5_000,
  /** How often a batch is tried that got in another's way. */
  postgresCollisionsMax: 5,
  /** After this the server itself gives up a sign of life that waits for a lock: before who sent it stops listening. */
  postgresPulseMs: 2_500,
  /** A process says so often that it lives, stops admitting after its own silence, and is declared dead after this one. */
  instanceHeartbeatMs: 1_000,
  instanceSilentMs: 3_000,
  instanceDeadMs: 5_000,
  /** How many bursts of a key may be owed, when several processes each let one in before they heard of the others'. */
  rateDebtBursts: 8,
  /** How often processes tell each other what they let in, how long such a count is kept, and how often old ones are swept. */
  requestShareMs: 250,
  requestCountMs: 60_000,
  requestSweepExchanges: 100,
  /** Models, routes and hosts are found by their name in an index, which takes no longer ones. */
  storedNameCharsMax: 600,
  /** How long SQLite waits for a lock that another connection holds. */
  storeBusyMs: 5_000,
  /** Pages of the write-ahead log before a commit also folds them into the file: rare, so that hot pages fold once. */
  storeCheckpointPages: 4_000,
  /** The log is written over in place; what a long reader made it grow beyond this is given back to the disk. */
  storeLogBytesKept: 64 * 1024 * 1024,
  /** Accounts, keys, windows, holds and names that the writer remembers between commits; beyond, it reads them again. */
  storeCachedRowsMax: 50_000,
  /** Rows one step of verifying, closing, forgetting or recovering takes before others get their turn. */
  storeSliceRows: 20_000,
  storeWriteSliceRows: 2_000,
  /** A call this young stays out of closed books, since a hold with an older id could still arrive. */
  closingAgeMs: 3_600_000,
  /** Longest id of a caller's chain of calls, and the most calls in one. */
  chainIdCharsMax: 64,
  chainCallsMax: 99,
  /** Longest idempotency key, and the largest answer that is kept under one. */
  idempotencyKeyCharsMax: 255,
  idempotencyAnswerBytesMax: 1024 * 1024,
  /** Bytes of such answers kept in the life of a key, of one account and of all; accounts whose share is remembered. */
  idempotencyKeptBytesPerAccountMax: 256 * 1024 * 1024,
  idempotencyKeptBytesMax: 4 * 1024 * 1024 * 1024,
  idempotencyKeptAccountsMax: 10_000,
  /** How long an idempotency key stands for its call, how often those whose time is over are swept away, in what slices. */
  idempotencyKeyMs: 86_400_000,
  idempotencySweepMs: 3_600_000,
  idempotencySweepRows: 500,
  /** Free disk below which no new call is admitted; what is under way still settles. */
  diskFreeBytesMin: 256 * 1024 * 1024,
  /** Config file, and the file a *_FILE variable names. */
  configFileBytesMax: 4 * 1024 * 1024,
  providerKeyFileBytesMax: 64 * 1024,
  providerKeyCharsMax: 4096,
  configHostsMax: 100,
  configListMax: 1000,
  /** How many faults of one config file are told at once. */
  configProblemsMax: 20,
  hostNameCharsMax: 64,
  /** Fields a host's row may leave out. */
  hostFieldsMax: 50,
  /** How long a server on the operator's own machines may take to say what it serves, in how many bytes, how many models. */
  localHostMs: 250,
  localHostBytesMax: 1024 * 1024,
  localHostModelsMax: 500,
  variableNameCharsMax: 200,
  /** Window assumed for a model that only an operator's own host knows. */
  unknownContextWindowTokens: 131_072,
  urlCharsMax: 2000,
  /** Keys and misses the directory keeps in memory, lookups it has under way at once. */
  cachedKeysMax: 50_000,
  cachedKeyMissesMax: 10_000,
  keyLookupsMax: 1000,
  /** How often changed keys are asked for, in how many rounds one poll may catch up, how long a key nobody has is believed. */
  keyPollMs: 1_000,
  keyPollRoundsMax: 1000,
  keyMissMs: 10_000,
  /** Age at which remembered keys are no longer trusted, and how long a caller then waits for news of them. */
  keyStalenessMs: 2_000,
  keyRefreshWaitMs: 2_000,
  /** Names of accounts and keys, references and notes of credits. */
  nameCharsMax: 100,
  creditReferenceCharsMax: 200,
  creditNoteCharsMax: 1000,
  /** Latest expiry of a key, from now. */
  keyLifeDaysMax: 36_500,
  /** Models one key may be restricted to. */
  keyModelsMax: 1000,
  /** How often, and how far apart, a command tries to get at books that another process holds without a socket. */
  folderAttemptsMax: 30,
  folderRetryMs: 100,
  /** How long a command waits for a sign of life of the running server before it gives up. */
  operatorSilenceMs: 10_000,
  /** Body of an operator's verb, and its answer. */
  operatorRequestBytesMax: 1024 * 1024,
  operatorAnswerBytesMax: 64 * 1024 * 1024,
  /** Most alternative answers one call may ask for. */
  answersPerCallMax: 128,
  /** Most tool calls one answer may hold; the official SDK takes no more either. */
  toolCallsPerAnswerMax: 128,
  /** Labels kept with a receipt, and the length each is cut to. */
  labelsMax: 20,
  labelCharactersMax: 256,
  /** How much of a host's error is read, and how much of its words are passed on. */
  hostErrorBytesMax: 64 * 1024,
  hostErrorCharactersMax: 1_000,
  hostErrorCodeCharactersMax: 200,
  /** How many bytes one byte of a tool's schema or arguments can become when a host escapes it again. */
  toolBytesInflationMax: 6,
  /** Tokens hosts add around a prompt: their own preamble, the frame of each message and tool, the words that explain tools. */
  promptFramingTokens: 256,
  messageFramingTokens: 16,
  toolFramingTokens: 32,
  toolPreambleTokens: 1024,
  /** Exact token counting: how much text, in pieces how long (time grows with their square), how long a caller waits for it. */
  tokenCountCharsMax: 2_000_000,
  tokenCountPieceCharsMax: 256,
  tokenCountMs: 3_000,
  tokenCountsPendingMax: 8,
  /** The counting thread's memory, and how long it may be idle before it is ended. */
  tokenCounterHeapMbMax: 512,
  tokenCounterIdleMs: 60_000,
  /** Connections to one host, how long opening one may take, how long an idle one is kept, how long its head may be. */
  hostConnectionsMax: 1_024,
  hostConnectMs: 10_000,
  hostKeepAliveMs: 30_000,
  /** A connection is given up this much earlier than the host said it would, or both might act at once. */
  hostKeepAliveMarginMs: 1_000,
  /** How long a quiet connection goes without a probe of the network below it. */
  hostProbeMs: 60_000,
  /** What one read of a connection takes at most. */
  socketReadBytes: 64 * 1024,
  hostHeaderBytesMax: 64 * 1024,
  /** URLs that callers give: looking one up (each try, how many, in all), its addresses, how many of them are dialed, how long each dial. */
  callerUrlLookupTryMs: 2_000,
  callerUrlLookupTries: 2,
  callerUrlLookupMs: 6_000,
  callerUrlAddressesMax: 64,
  callerUrlDialsMax: 4,
  callerUrlConnectMs: 5_000,
  /** Origins of callers that are connected to at once, connections to one, and an answer that is read as a whole. */
  callerOriginsMax: 256,
  callerOriginConnectionsMax: 64,
  callerAnswerBytesMax: 1024 * 1024,
  callerAnswerMs: 15_000,
  /** How long a host may keep its connection open after its last word. */
  hostLingerMs: 5_000,
  /** The simulated upstream: its largest request, how many calls and bytes of them it remembers, how many scripts wait. */
  simRequestBytesMax: 64 * 1024 * 1024,
  simCallsKept: 10_000,
  simCallBytesKept: 128 * 1024 * 1024,
  simScriptsMax: 1_000,
  /** Its longest answers, its remembered prompt prefixes, and the values it makes up for one JSON schema. */
  simWordsMax: 1_000_000,
  simEndlessChunksMax: 10_000_000,
  simCachedPrefixesMax: 65_536,
  simSchemaValuesMax: 2_000,
  /** Hosts asked for one call: the first, one more freely, a third while second retries are few among all calls. */
  hostAttemptsMax: 3,
  /** Second retries that may be saved up. */
  retriesSavedMax: 10,
  /** How much of a prompt's beginning decides between hosts of the same price. */
  promptHeadBytesMax: 1024,
  /** How much of what came of an attempt is remembered. */
  tryOutcomeCharsMax: 200,
  /** Models that one host may have said it does not know. */
  hostModelsAsideMax: 1_000,
  /** Refusals in a row, over different requests of so many accounts, after which a host comes last for a while. */
  hostRefusalsInARow: 3,
  hostRefusalAccounts: 2,
  hostRefusalPauseMs: 5_000,
  /** A client's head: its size and its number of headers. */
  requestHeaderBytesMax: 32 * 1024,
  requestHeadersMax: 100,
  /** How much of a refused body is read and forgotten, so that its client can read the refusal. */
  forgottenBodyBytesMax: 64 * 1024 * 1024,
  /** How much a client may send ahead of its turn, or of a body before anyone reads it. */
  unreadRequestBytesMax: 64 * 1024,
  /** A piece of an answer up to this size is joined with what frames it, so that they leave in one write. */
  responseJoinedBytesMax: 16 * 1024,
  /** How often connections are looked through for requests that take too long, and how long an idle one is kept. */
  connectionsCheckMs: 5_000,
  clientKeepAliveMs: 72_000,
  /** Keys whose rate is remembered, and how often the load of the process is measured. */
  rateLimitedKeysMax: 50_000,
  loadSampleMs: 250,
  /** An answer larger than this goes out in pieces of this size, so that a client that does not read is noticed. */
  responsePieceBytes: 256 * 1024,
  /** When stopping: how long clients may take to read the last bytes of calls that have ended. */
  lastWordMs: 2_000,
  /** Longest path a unix socket may have on every system we run on. */
  socketPathBytesMax: 100,
  /** How long after its start a server first closes its books. */
  bookkeepingFirstMs: 60_000,
  /** How soon maintenance that failed is tried again. */
  bookkeepingRetryMs: 300_000,
  /** Longest list of betas a caller of the messages wire may name. */
  betaHeaderCharactersMax: 2_000,
  /** Answers of one completions call: its prompts times the answers each asks for. */
  completionAnswersMax: 2_048,
  /** Inputs of one embeddings call, and what typed questions may hold. */
  embeddingInputsMax: 2_048,
  decisionQuestionsMax: 400,
  decisionLabelsMax: 255,
  decisionLevelsMax: 10,
  /** Master keys known at once, and how long the command that gives them may take. */
  masterKeysMax: 16,
  masterKeyCommandMs: 10_000,
  /** How long a host may take to answer `tollgate doctor`, which checks its key. */
  hostKeyCheckMs: 5_000,
  /** How long a provider may take to answer for a key that is to be stored. */
  keyVerificationMs: 10_000,
  /** Rows sealed anew in one step, and how many of those that cannot be opened are named. */
  sealRotationRows: 200,
  unreadableKeysTold: 20,
  /** Books on their way to another engine: rows and bytes of one commit, and how many faults of a copy are told. */
  copyPageRows: 2_000,
  copyPageBytes: 8 * 1024 * 1024,
  copyFaultsTold: 20,
  /** Longest path of a file that an operator names. */
  filePathCharsMax: 4_096,
} as const;
