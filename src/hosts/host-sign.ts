/** What one attempt tells about its host. */
export type HostSign =
  /** It did its part, be it a refusal of the caller's request; for streams, how long the first byte took. */
  | { readonly kind: 'well'; readonly firstByteMs: number | null }
  | { readonly kind: 'failed' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  | { readonly kind: 'key_refused'; readonly status: number }
  /** It refused the request in a way that may be about our account, or only about this request. */
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'model_unknown'; readonly model: string }
  /** The caller left, or we are stopping. */
  | { readonly kind: 'nothing' };

/** What an operator wants to know of; told as it happens. */
export type HostEvent = { readonly host: string } & (
  | {
      readonly kind: 'ejected';
      readonly cause: 'failures' | 'failure_rate' | 'overruns';
      readonly forMs: number;
      readonly times: number;
    }
  | { readonly kind: 'probed' }
  | { readonly kind: 'returned' }
  | { readonly kind: 'limited'; readonly forMs: number }
  /** `forMs` is zero for a refusal that may be about one request only. */
  | { readonly kind: 'refused'; readonly status: number; readonly forMs: number; readonly isNews: boolean }
  /** `isNews` is false where it was told before and nothing has changed since. */
  | { readonly kind: 'key_set_aside'; readonly status: number; readonly forMs: number; readonly isNews: boolean }
  | { readonly kind: 'model_set_aside'; readonly model: string; readonly forMs: number; readonly isNews: boolean }
);
