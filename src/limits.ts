import { JOB_LIMITS } from './job-limits.ts';
import { MANAGEMENT_LIMITS } from './management-limits.ts';
import { STORE_LIMITS } from './store-limits.ts';
import { WORKER_LIMITS } from './worker-limits.ts';

/** Every limit of the product, in one place. */
export const LIMITS = {
  ...MANAGEMENT_LIMITS,
  ...JOB_LIMITS,
  ...STORE_LIMITS,
  ...WORKER_LIMITS,
  /** Largest request body a caller may send. */
  requestBodyBytesMax: 32 * 1024 * 1024,
  /** Bytes of all request bodies in memory, from the first byte to the end of the call; what one account may take of the memory that others leave; bytes of one key; and the part that only accounts with few bytes may use. Results of jobs: the same. */
  bodiesBytesMax: 512 * 1024 * 1024,
  bodiesAccountPercent: 75,
  bodiesBytesPerKeyMax: 128 * 1024 * 1024,
  bodiesReserveBytes: 32 * 1024 * 1024,
  bodiesSmallBytes: 64 * 1024,
  /** Bytes of all responses in memory that are arriving or that clients have not read; what one account may take of the memory that others leave; what is not counted of each. */
  answersBytesMax: 1024 * 1024 * 1024,
  answersAccountPercent: 50,
  answerBytesFree: 64 * 1024,
  /** Largest body of a request that is not a call, for example one that stores a key. */
  plainBodyBytesMax: 64 * 1024,
  /** A JSON key with escapes is expensive to read, so it counts as this many keys, and fewer values are allowed beside it. */
  jsonEscapedKeyWeight: 10,
  /** Keys of one object that count once each; the most that it may have; and as how many members each further one counts. */
  jsonObjectKeysCheap: 256,
  jsonObjectKeysMax: 10_000,
  jsonCrowdedKeyWeight: 20,
  /** Seconds of a key's budget of body bytes, and of JSON members, that it may use at once. */
  bodyBurstS: 8,
  jsonBurstS: 2,
  /** Limits of a JSON body: nesting, values, keys, digits of a number, bytes of a key. A body beyond them is refused unread. */
  jsonDepthMax: 64,
  jsonNodesMax: 1_000_000,
  jsonKeysMax: 100_000,
  jsonNumberDigitsMax: 400,
  jsonKeyBytesMax: 4096,
  /** Deepest nesting of JSON from a host: deeper values could overflow the stack when they are written again. */
  hostJsonDepthMax: 1_000,
  /** How traces are sent, unless the standard variables say otherwise: how long spans wait, how many are sent at once, and how many may wait. */
  traceDelayMs: 5_000,
  traceBatchSpans: 512,
  traceQueueSpans: 2_048,
  traceSendMs: 10_000,
  /** How long a gateway that stops waits for its last spans to be sent. */
  traceLastSendMs: 2_000,
  /** Longest `tracestate` that is passed on, as the W3C recommendation says. */
  traceStateCharsMax: 512,
  /** Largest single server-sent event a host may send. */
  sseFrameBytesMax: 8 * 1024 * 1024,
  /** Most text of a model in one stream, because part of it is kept until the end. */
  streamWordBytesMax: 16 * 1024 * 1024,
  /** Text of a frame's unknown members that is taken for the host's description of itself, and the most that counts. */
  frameMetadataBytesMax: 256,
  frameExtraBytesMax: 64 * 1024,
  /** Frames without content that wait for the first content of a stream. */
  frameOpeningBytesMax: 64 * 1024,
  /** Frame templates remembered from one stream of a host to the next, and the size of the largest, without its text. */
  cachedFramesMax: 4,
  cachedFrameBytesMax: 2048,
  /** Output items of one response, and parts of one item, on the responses wire. */
  outputItemsMax: 1_024,
  /** Largest buffered response of a host. */
  responseBodyBytesMax: 64 * 1024 * 1024,
  /** Models in one catalog, models that have metrics of their own, aliases of one model, price tiers of one model. */
  catalogModelsMax: 10_000,
  modelSeriesMax: 10_000,
  modelAliasesMax: 64,
  priceTiersMax: 16,
  /** A catalog that is installed: its bytes, and how long downloading it may take. */
  catalogBytesMax: 20 * 1024 * 1024,
  catalogDownloadMs: 30_000,
  /** Longest model id or alias. */
  modelIdCharsMax: 200,
  /** Highest rate in a price: one dollar per token, so that no cost exceeds int64. */
  rateNanousdPerMillionMax: 1_000_000_000_000_000,
  /** Most that is recorded as lost on one call, so that absurd usage counts cannot overflow the sum of a year. */
  lossNanousdMax: 1_000_000_000_000,
  /** Most tokens of one kind that a call can have used: sums of more than this could overflow, and the ledger could not be closed. */
  usageTokensMax: 2_000_000_000,
  /** The period of the loss allowance. */
  lossWindowMs: 3_600_000,
  /** Bursts that a key may owe, when several processes each admitted one before they learned of the others'. */
  rateDebtBursts: 8,
  /** Longest id of a caller's chain of calls, and the most calls in one. */
  chainIdCharsMax: 64,
  chainCallsMax: 99,
  /** Longest idempotency key, and the largest response stored under one. */
  idempotencyKeyCharsMax: 255,
  idempotencyAnswerBytesMax: 1024 * 1024,
  /** Bytes of responses stored under idempotency keys, per account and in all. */
  idempotencyKeptBytesPerAccountMax: 256 * 1024 * 1024,
  idempotencyKeptBytesMax: 4 * 1024 * 1024 * 1024,
  /** How long an idempotency key is valid, how often expired ones are deleted, and how many at a time. */
  idempotencyKeyMs: 86_400_000,
  idempotencySweepMs: 3_600_000,
  idempotencySweepRows: 500,
  /** Sizes of the config file, of a key file that a *_FILE variable names, and of a key. */
  configFileBytesMax: 4 * 1024 * 1024,
  providerKeyFileBytesMax: 64 * 1024,
  providerKeyCharsMax: 4096,
  configHostsMax: 100,
  configListMax: 1000,
  /** Problems of one config file that are reported at once. */
  configProblemsMax: 20,
  hostNameCharsMax: 64,
  /** Fields that a host's entry may omit or add. */
  hostFieldsMax: 50,
  /** Ids of tool calls that a host takes: with fewer characters, different ids could become the same. */
  callIdCharsMin: 8,
  callIdCharsMax: 64,
  /** Probe of a local server for its models: time, size of the answer, number of models. */
  localHostMs: 250,
  localHostBytesMax: 1024 * 1024,
  localHostModelsMax: 500,
  variableNameCharsMax: 200,
  /** Context window assumed for a model that is not in the catalog. */
  unknownContextWindowTokens: 131_072,
  urlCharsMax: 2000,
  /** Keys and misses cached in memory, and concurrent lookups. */
  cachedKeysMax: 50_000,
  cachedKeyMissesMax: 10_000,
  keyLookupsMax: 1000,
  /** How often changed keys are polled, pages that one poll may read, and how long a miss is cached. */
  keyPollMs: 1_000,
  keyPollRoundsMax: 1000,
  keyMissMs: 10_000,
  /** Age at which cached keys are no longer trusted, and how long a caller then waits for a refresh. */
  keyStalenessMs: 2_000,
  keyRefreshWaitMs: 2_000,
  /** Lengths of the names of accounts and keys, and of references and notes of credits. */
  nameCharsMax: 100,
  creditReferenceCharsMax: 200,
  creditNoteCharsMax: 1000,
  /** Latest expiry of a key, from now. */
  keyLifeDaysMax: 36_500,
  /** Models one key may be restricted to. */
  keyModelsMax: 1000,
  /** How often, and with what pause, a command tries to open a data folder that a process without a control socket has open. */
  folderAttemptsMax: 30,
  folderRetryMs: 100,
  /** How long a command waits for any answer of the running server before it gives up. */
  operatorSilenceMs: 10_000,
  /** Size of an operator verb's input and of its answer. */
  operatorRequestBytesMax: 1024 * 1024,
  operatorAnswerBytesMax: 64 * 1024 * 1024,
  /** Most choices of one call (`n`). */
  answersPerCallMax: 128,
  /** Most tool calls in one response, as in the official SDK. */
  toolCallsPerAnswerMax: 128,
  /** Labels stored with a receipt, and the length each is cut to. */
  labelsMax: 20,
  labelCharactersMax: 256,
  /** Adjusted fields that a response and its receipt name, and the length each name is cut to. */
  adjustedFieldsMax: 20,
  adjustedNameCharsMax: 64,
  /** How much of a host's error is read, and how much of its message and code is passed on. */
  hostErrorBytesMax: 64 * 1024,
  hostErrorCharactersMax: 1_000,
  hostErrorCodeCharactersMax: 200,
  /** How much longer a tool's schema or arguments can become when a host escapes them again. */
  toolBytesInflationMax: 6,
  /** Tokens that unknown hosts add to a prompt: in all, per message, per part, per tool, and once if there are tools. */
  promptFramingTokens: 256,
  messageFramingTokens: 16,
  partFramingTokens: 16,
  toolFramingTokens: 32,
  toolPreambleTokens: 1024,
  /** The same for models that read plain text: embeddings, and completions without a chat template. */
  plainPromptFramingTokens: 8,
  plainMessageFramingTokens: 8,
  /** Highest figure of a model's framing in the catalog. */
  framingTokensMax: 10_000,
  /** Tokens of a vendor's own prompt for a tool that it defines and the client runs: about twice what the vendor states. */
  bashToolTokens: 1_000,
  textEditorToolTokens: 2_000,
  memoryToolTokens: 4_000,
  computerToolTokens: 10_000,
  /** Counting tokens: text of one count, length of a piece (time grows with its square), and what is counted in one step. */
  tokenCountCharsMax: 2_000_000,
  tokenCountPieceCharsMax: 256,
  tokenCountSliceChars: 16 * 1024,
  /** Bytes of a body that are not text and may still be copied to the counting thread: this many, or as many as the texts have. */
  tokenCountOtherBytesMax: 64 * 1024,
  /** Buffers for these copies that are kept for later ones, and the largest that is kept. */
  tokenCountSpareBuffersMax: 4,
  tokenCountSpareBytesMax: 1024 * 1024,
  /** How long a call waits for its count, and how long the counting thread may then take to drop it. */
  tokenCountMs: 3_000,
  tokenCancelMs: 2_000,
  /** Counts that wait or run, and their text: of one account, at most a quarter, and of all. */
  tokenCountsPendingPerAccountMax: 16,
  tokenCountsPendingMax: 64,
  tokenCountCharsPendingPerAccountMax: 4_000_000,
  tokenCountCharsPendingMax: 16_000_000,
  /** Texts whose counts are remembered, per account and in all, and the shortest one; words that a tokenizer remembers. */
  tokenCountsKeptPerAccount: 10_000,
  tokenCountsKept: 100_000,
  tokenMergesKept: 100_000,
  tokenCountKeptCharsMin: 64,
  /** Highest factor between two tokenizers, and the one for a model about which nothing is known. */
  tokenFactorMax: 8,
  tokenFactorDefault: 1.6,
  /** Accounts with overruns that raise a model's factor, accounts that are stored for it, and how often they are read. */
  tokenOverrunAccountsMin: 3,
  tokenOverrunAccountsMax: 100,
  tokenFactorsReadMs: 45_000,
  /** Memory of the counting thread, and how long it may be idle before it ends and forgets its counts. */
  tokenCounterHeapMbMax: 512,
  tokenCounterIdleMs: 900_000,
  /** Connections to one host, and timeouts for connecting and for idle connections. */
  hostConnectionsMax: 1_024,
  hostConnectMs: 10_000,
  hostKeepAliveMs: 30_000,
  /** An idle connection is closed this much before the host would, to avoid a race. */
  hostKeepAliveMarginMs: 1_000,
  /** Idle time after which TCP keep-alive probes a connection. */
  hostProbeMs: 60_000,
  /** Most bytes of one socket read. */
  socketReadBytes: 64 * 1024,
  hostHeaderBytesMax: 64 * 1024,
  /** URLs of callers: each DNS query, queries, DNS in all, addresses, addresses that are dialled, and each dial. */
  callerUrlLookupTryMs: 2_000,
  callerUrlLookupTries: 2,
  callerUrlLookupMs: 6_000,
  callerUrlAddressesMax: 64,
  callerUrlDialsMax: 4,
  callerUrlConnectMs: 5_000,
  /** Origins of callers with open connections, connections to one, and size and time of an answer that is read whole. */
  callerOriginsMax: 256,
  callerOriginConnectionsMax: 64,
  callerAnswerBytesMax: 1024 * 1024,
  callerAnswerMs: 15_000,
  /** Work of reading responses of callers' own deployments, in units of 100 ns: of one response, and per second and account; the seconds of it that may be used at once; and what is too short to count. */
  deploymentWorkMax: 10_000_000,
  deploymentWorkPerSecond: 2_000_000,
  deploymentWorkBurstS: 8,
  deploymentWorkFreeBytes: 16 * 1024,
  /** Largest settings file of a client that `tollgate setup` edits. */
  settingsFileBytesMax: 1024 * 1024,
  /** How long a host may keep its connection open after its final frame. */
  hostLingerMs: 5_000,
  /** Simulated upstream: size of a request, calls and bytes it remembers, scripts in its queue. */
  simRequestBytesMax: 64 * 1024 * 1024,
  simCallsKept: 10_000,
  simCallBytesKept: 128 * 1024 * 1024,
  simScriptsMax: 1_000,
  /** Simulated upstream: words and chunks of a response, cached prompt prefixes, and values generated for one JSON schema. */
  simWordsMax: 1_000_000,
  simEndlessChunksMax: 10_000_000,
  simCachedPrefixesMax: 65_536,
  simSchemaValuesMax: 2_000,
  /** Hosts tried for one call: a first retry is always allowed, a second one only while second retries are rare. */
  hostAttemptsMax: 3,
  /** Most second retries that can be saved up. */
  retriesSavedMax: 10,
  /** How much of the start of a prompt decides between hosts of the same price. */
  promptHeadBytesMax: 1024,
  /** Length of the stored outcome of an attempt. */
  tryOutcomeCharsMax: 200,
  /** Unknown models remembered per host. */
  hostModelsAsideMax: 1_000,
  /** After this many refusals in a row, of different requests and of at least this many accounts, a host comes last for a while. */
  hostRefusalsInARow: 3,
  hostRefusalAccounts: 2,
  hostRefusalPauseMs: 5_000,
  /** Refusals in a row after which operators are told, although all may be of one account. */
  hostRefusalsToReport: 10,
  /** Size of a request's head, and its number of headers. */
  requestHeaderBytesMax: 32 * 1024,
  requestHeadersMax: 100,
  /** How much of a refused body is read and discarded, so that its client can read the error. */
  forgottenBodyBytesMax: 64 * 1024 * 1024,
  /** How much a client may send before its turn, or before its body is read. */
  unreadRequestBytesMax: 64 * 1024,
  /** Chunks up to this size are joined with their framing, and streams that came in one read are kept until their settlement, so that they leave in one write; but not for longer than this. */
  responseJoinedBytesMax: 16 * 1024,
  wholeStreamKeptMs: 100,
  /** File descriptors reserved for the store, the log, threads, look-ups and the operations port; how many are assumed if the system does not say; and the fewest connections of callers, however low that limit is. */
  descriptorsReserved: 96,
  descriptorsAssumed: 1_024,
  connectionsMin: 16,
  /** Connections to the operations port. */
  operationsConnectionsMax: 32,
  /** How often connections are checked for requests that take too long, and how long an idle one is kept. */
  connectionsCheckMs: 5_000,
  clientKeepAliveMs: 72_000,
  /** Places in a table of numbers by id, like the request rates of keys, of all workers together; a power of two. About half as many ids find a place for certain. */
  limitedIdsMax: 131_072,
  /** Keys whose requests are shared with other processes, and how often the load of the process is measured. */
  rateLimitedKeysMax: 50_000,
  loadSampleMs: 250,
  /** Larger responses are written in pieces of this size, to notice a client that does not read. */
  responsePieceBytes: 256 * 1024,
  /** How long a hosted gateway still takes calls after the signal to stop; load balancers ask every second or two whether it is ready. */
  shutdownNoticeMs: 3_000,
  /** On shutdown, how long clients may take to read the end of finished calls. */
  shutdownReadMs: 2_000,
  /** Longest path of a unix socket on every supported system. */
  socketPathBytesMax: 100,
  /** Longest anthropic-beta header. */
  betaHeaderCharactersMax: 2_000,
  /** Choices of one completions call: its prompts times `n`. */
  completionAnswersMax: 2_048,
  /** Inputs of one embeddings call; questions, labels and levels of one decisions call. */
  embeddingInputsMax: 2_048,
  decisionQuestionsMax: 400,
  decisionLabelsMax: 255,
  decisionLevelsMax: 10,
  /** How many master keys there may be, and how long the command that prints them may take. */
  masterKeysMax: 16,
  masterKeyCommandMs: 10_000,
  /** How long a host may take to answer `tollgate doctor`, which checks its key. */
  hostKeyCheckMs: 5_000,
  /** How long a provider may take to verify a key before it is stored. */
  keyVerificationMs: 10_000,
  /** Keys of one account that are verified at the same time. */
  keyVerificationsMax: 8,
  /** How long parsing its list of models may take, in units of 100 ns. */
  keyVerificationWorkMax: 200_000,
  /** How old the time of a stored key's last use may become before a call renews it, and how many keys are watched at once. */
  providerKeyUseMs: 3_600_000,
  cachedProviderKeysMax: 10_000,
  /** Rows that one step of a rotation re-encrypts, and how many that cannot be decrypted are listed. */
  sealRotationRows: 200,
  unreadableKeysTold: 20,
  /** Longest file path that an operator may give. */
  filePathCharsMax: 4_096,
} as const;
