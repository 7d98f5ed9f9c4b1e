/** When a host is set aside and for how long; each can be set in the config file. */
export interface HealthSettings {
  /** Failures in a row that eject a host. */
  readonly consecutiveFailures: number;
  /** Or this share of at least so many calls, within the window. */
  readonly failurePercent: number;
  readonly failureCallsMin: number;
  readonly windowMs: number;
  /** An ejection lasts this long times how often the host was ejected, up to the most. */
  readonly ejectionMs: number;
  readonly ejectionMaxMs: number;
  /** A stream that begins later than this counts as a failure of its host. */
  readonly slowFirstByteMs: number;
  /** How long a host at its rate limit is left alone if it does not say, and the most it may say. */
  readonly limitedMs: number;
  readonly limitedMaxMs: number;
  /** How long a refused key, or a model the host does not know, is set aside. */
  readonly keyAsideMs: number;
  /** How often a host may count more than the bound before it is ejected. */
  readonly overruns: number;
  /** Second retries, as a share of all calls. */
  readonly retryPercent: number;
}
