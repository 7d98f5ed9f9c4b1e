/** What one attempt says about its host. */
export type HostSign =
  /** The host worked, even if it refused the request; for streams, with the time to first byte. */
  | { readonly kind: 'well'; readonly firstByteMs: number | null }
  | { readonly kind: 'failed' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  | { readonly kind: 'key_refused'; readonly status: number }
  /** A refusal that may be about our account, or only about this request. */
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'model_unknown'; readonly model: string }
  /** The caller left, or the gateway is stopping. */
  | { readonly kind: 'nothing' };

/** Events for the operator. */
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
  /** `forMs` is 0 for a refusal that may be about one request only. */
  | { readonly kind: 'refused'; readonly status: number; readonly forMs: number; readonly isNews: boolean }
  /** `isNews` is false if it was reported before and nothing has changed since. */
  | { readonly kind: 'key_set_aside'; readonly status: number; readonly forMs: number; readonly isNews: boolean }
  | { readonly kind: 'model_set_aside'; readonly model: string; readonly forMs: number; readonly isNews: boolean }
);

/** What a thread shares with the other threads of its process about a host: its decisions, and what they have to add to their counts. */
export type HostNews =
  | HostEvent
  | {
      readonly host: string;
      /** `unprobed`: the probing call ended without a result. */
      readonly kind: 'failed' | 'answered' | 'overran' | 'unprobed';
    };
