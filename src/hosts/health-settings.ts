/** When a host is ejected and for how long. The config file sets each. */
export interface HealthSettings {
  /** Failures in a row that eject a host. */
  readonly consecutiveFailures: number;
  /** Or this share of failures among at least this many calls within the window. */
  readonly failurePercent: number;
  readonly failureCallsMin: number;
  readonly windowMs: number;
  /** An ejection lasts this long, times the number of ejections, up to the maximum. */
  readonly ejectionMs: number;
  readonly ejectionMaxMs: number;
  /** A stream that starts later than this counts as a failure of its host. */
  readonly slowFirstByteMs: number;
  /** Pause after a 429 without Retry-After, and the longest pause. */
  readonly limitedMs: number;
  readonly limitedMaxMs: number;
  /** How long a rejected key, or a model that the host does not know, is not used. */
  readonly keyAsideMs: number;
  /** How often a host may report more tokens than a call could use before it is ejected. */
  readonly overruns: number;
  /** Second retries, as a share of all calls. */
  readonly retryPercent: number;
}
