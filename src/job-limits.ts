/** Limits of deferred jobs. */
export const JOB_LIMITS = {
  /** Jobs of one account that wait to run, and the sealed bytes of requests and results that are stored for it. */
  jobsWaitingMax: 200_000,
  jobBytesMax: 4 * 1024 * 1024 * 1024,
  /** Jobs and bytes that one commit writes: calls wait for it. */
  jobStageRowsMax: 32,
  jobStageBytesMax: 1024 * 1024,
  /** How long a request may be staged before it is accepted. */
  jobStagedMs: 3_600_000,
  /** The largest stored piece of a request or a result. */
  jobChunkBytesMax: 1024 * 1024,
  /** Jobs whose content one step deletes. */
  jobSweepRows: 50,
  /** How long a job is listed after its request and result were deleted. */
  jobRowsKeptMs: 30 * 24 * 60 * 60_000,
  /** Pieces that one step of a rotation re-encrypts. */
  jobSealRotationChunks: 8,
  /** The latest start of a job: by default, and at most. */
  jobExpiryMs: 24 * 60 * 60_000,
  jobExpiryMaxMs: 30 * 24 * 60 * 60_000,
  /** How long the result of a job is kept: by default, and at most. */
  jobResultMs: 24 * 60 * 60_000,
  jobResultMaxMs: 30 * 24 * 60 * 60_000,
  /** Largest stored response of a job. */
  jobResultBytesMax: 20 * 1024 * 1024,
  /** Lines of a group, and their bytes, that are read at a time. */
  jobSliceLinesMax: 512,
  jobSliceBytesMax: 8 * 1024 * 1024,
  /** The first pause after an attempt that may succeed later, and the longest. */
  jobRetryMs: 2_000,
  jobRetryMaxMs: 10 * 60_000,
  /** Attempts of a job whose host fails in the middle of its answer, which it bills; after other failures there are more. */
  jobBrokenAttemptsMax: 3,
  /** How often a process looks for jobs that others have accepted, or asked it to cancel. */
  jobWorkerPollMs: 2_000,
  /** How long after it was submitted a job is tried again if its model is not known, and the longest pause of such a job. */
  jobModelUnknownMs: 10 * 60_000,
  jobModelRetryMs: 30_000,
  /** How long a claimed job is kept from other processes before it has started. */
  jobLeaseMs: 10_000,
  /** The first pause of a job whose key is disabled; later pauses grow up to `jobRetryMaxMs`. */
  jobBlockedMs: 30_000,
  /** Accounts whose turns are planned at a time. */
  jobAccountsAtOnce: 64,
  /** How often a request that waits for a job reads it: another process may run the job. */
  jobWaitPollMs: 1_000,
  /** How often cancelling is tried for a job that starts, or goes back to the queue, at the same time. */
  jobCancelTurnsMax: 5,
  /** Steps in which a group of jobs becomes active or is dropped, at most. */
  jobActivationsMax: 10_000,
  /** How often jobs that have expired are ended and old contents deleted; and how many steps one round may take. */
  jobSweepMs: 20_000,
  jobSweepStepsMax: 1_000,
  /**
   * How long lines of a group are checked and stored before calls get a turn; how many times as long calls then have
   * the process to themselves, if there are any; and the longest of these pauses.
   */
  jobTurnMs: 1,
  jobRestFactor: 3,
  jobRestMaxMs: 25,
  /** The pause of jobs and groups while calls need the whole process. */
  jobBusyPauseMs: 100,
  /** The delay of the event loop above which no further job starts while calls run. */
  jobLagMs: 30,
  /** Price lists, besides the one in force, that are kept in memory for jobs accepted under them. */
  jobPriceListsKept: 16,
  /** Lines and bytes of a group, and the bytes of one line. */
  groupLinesMax: 50_000,
  groupBytesMax: 200 * 1024 * 1024,
  groupLineBytesMax: 8 * 1024 * 1024,
  /** Bytes of a group that may have arrived before they are read; then its client has to wait. */
  groupUnreadBytesMax: 256 * 1024,
  /** Groups that are taken in, or whose results are read, at the same time: of one account, and of all. */
  groupIntakesPerAccountMax: 4,
  groupIntakesMax: 16,
  /** Of these, places for accounts that have none, so that a few slow ones cannot take them all. */
  groupPlacesReserved: 8,
  /** Longest wait of one request for the end of a job. */
  jobWaitMaxMs: 30_000,
  /** Metadata of a job: its entries, and the length of a name and of a value. */
  jobMetadataMax: 16,
  jobMetadataNameCharsMax: 64,
  jobMetadataCharsMax: 512,
  jobCustomIdCharsMax: 64,
  /** How long a command waits without any byte from the gateway, and how often it sends a file whose answer was lost. */
  jobClientSilenceMs: 120_000,
  jobUploadAttemptsMax: 3,
  /** How often a command asks whether a job has ended, and how many times in a row it may get no answer. */
  jobPollMs: 1_000,
  jobPollMissesMax: 60,
  /** Ends of jobs and groups that are handed to the webhooks at a time. */
  jobEventsAtOnce: 100,
} as const;
