/** Limits of deferred jobs. */
export const JOB_LIMITS = {
  /** Jobs of one account that wait to run, and the sealed bytes of requests and results that are stored for it. */
  jobsWaitingMax: 200_000,
  jobBytesMax: 4 * 1024 * 1024 * 1024,
  /** Lines of a group that one commit stages or activates. */
  jobStageRowsMax: 512,
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
} as const;
