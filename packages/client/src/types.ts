/** The parts of requests and responses that most callers use; every other member is passed on and typed unknown. */
interface Open {
  readonly [name: string]: unknown;
}

export interface ModelRequest extends Open {
  readonly model: string;
  /** Streams are made with `.stream`. */
  readonly stream?: never;
}

export interface ChatRequest extends ModelRequest {
  readonly messages: readonly object[];
}

export interface MessagesRequest extends ModelRequest {
  readonly max_tokens: number;
  readonly messages: readonly object[];
}

export interface ToolCall extends Open {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatUsage extends Open {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export interface ChatCompletion extends Open {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly finish_reason: string | null;
    readonly message: {
      readonly role: string;
      readonly content: string | null;
      readonly reasoning?: string | null;
      readonly refusal?: string | null;
      readonly tool_calls?: readonly ToolCall[];
    };
  }[];
  readonly usage?: ChatUsage;
}

export interface ChatCompletionChunk extends Open {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly finish_reason: string | null;
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly reasoning?: string | null;
      readonly tool_calls?: readonly object[];
    };
  }[];
  readonly usage?: ChatUsage | null;
}

export interface Message extends Open {
  readonly id: string;
  readonly model: string;
  readonly content: readonly ({ readonly type: string; readonly text?: string } & Open)[];
  readonly stop_reason: string | null;
  readonly usage: Open;
}

/** An event of a messages or responses stream. */
export interface TypedEvent extends Open {
  readonly type: string;
}

export interface ResponseObject extends Open {
  readonly id: string;
  readonly model: string;
  readonly status: string;
  readonly output: readonly TypedEvent[];
}

export interface TextCompletion extends Open {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly { readonly index: number; readonly text: string; readonly finish_reason: string | null }[];
}

export interface EmbeddingList extends Open {
  readonly model: string;
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
}

export interface Decisions extends Open {
  readonly model: string;
  readonly answers: readonly object[] | { readonly [question: string]: object };
}

/** The bodies of the gateway's own routes, with their names; amounts in nanodollars are bigint. */
export interface Balance extends Open {
  readonly currency: string;
  readonly unlimited: boolean;
  readonly balance_nanousd: bigint;
  readonly held_nanousd: bigint;
  readonly reserved_nanousd: bigint;
  readonly available_nanousd: bigint;
  readonly spent_nanousd: bigint;
  readonly key:
    | ({
        readonly id: string;
        readonly spend_cap_nanousd: bigint | null;
        readonly spent_nanousd: bigint;
        readonly remaining_nanousd: bigint | null;
      } & Open)
    | null;
}

export interface Quote extends Open {
  readonly model: string;
  readonly worst_case_nanousd: bigint;
  readonly likely_nanousd: bigint;
  readonly fits: { readonly ceiling: boolean; readonly cap: boolean; readonly balance: boolean };
}

export interface Model extends Open {
  readonly id: string;
  readonly caps: readonly string[];
  readonly context_window: number;
  readonly pricing: Open;
}

export interface UsageRow extends Open {
  readonly start: number | null;
  readonly requests: number;
  readonly cost_nanousd: bigint;
}

export interface UsageReport extends Open {
  readonly since: number;
  readonly until: number;
  readonly totals: Omit<UsageRow, 'start'>;
  readonly data: readonly UsageRow[];
}

/** Times are Unix seconds, or texts like `2027-01-31` or `2027-01-31T12:00:00Z`. */
export interface ReceiptQuery {
  readonly since?: string | number | undefined;
  readonly until?: string | number | undefined;
  /** The requested or the effective model. */
  readonly model?: string | undefined;
  readonly chain?: string | undefined;
  /** Receipts per page. */
  readonly limit?: number | undefined;
}

/** One page of a list. */
export interface Page<One> extends Open {
  readonly data: readonly One[];
  /** Give it as `after` to get the next page; null if this is the last. */
  readonly next: string | null;
}

/** What a group has in common with a single job. Times are RFC 3339. */
export interface GroupTerms {
  /** The earliest start; without it, as soon as possible. */
  readonly not_before?: string | undefined;
  /** The latest start; without it, 24 hours later. */
  readonly expires_at?: string | undefined;
  /** How long request and result are kept after the end; 24 hours by default. */
  readonly result_ttl_seconds?: number | undefined;
  /** What happens if the gateway dies while a host may be working on the job; `fail` by default. */
  readonly on_unknown?: 'fail' | 'retry' | undefined;
  /** The webhook that gets the event at the end; without it, all that want the event. */
  readonly webhook?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface JobRequest extends GroupTerms {
  /** The route of the call, as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly body: object;
  readonly custom_id?: string | undefined;
}

/** A line of a vendor's batch file. */
export interface GroupRequest {
  /** Unique in its group. */
  readonly custom_id: string;
  /** `POST`. */
  readonly method: string;
  /** The route of the call, as `/v1/chat/completions`. */
  readonly url: string;
  readonly body: object;
}

/** What became of one request of a group. */
export interface GroupResult<Data = Open> {
  /** The id of the job. */
  readonly id: string;
  readonly custom_id: string;
  /** Null if there was none; `error` says why. */
  readonly response: {
    readonly status_code: number;
    readonly request_id: string | null;
    /** The response of the call, or its error. */
    readonly body: Data;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export type JobStatus =
  | 'scheduled'
  | 'queued'
  | 'running'
  | 'cancelling'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'paused';

export interface Job extends Open {
  readonly id: string;
  readonly endpoint: string;
  readonly status: JobStatus;
  readonly finished_at: string | null;
  readonly reserved_nanousd: bigint;
  readonly cost_nanousd: bigint | null;
  /** That of the last attempt, and of its receipt. */
  readonly request_id: string | null;
  readonly custom_id: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly group: string | null;
}

export interface JobGroup extends Open {
  readonly id: string;
  readonly status: 'running' | 'finished';
  readonly finished_at: string | null;
  readonly counts: {
    readonly total: number;
    readonly waiting: number;
    readonly running: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly cancelled: number;
    readonly expired: number;
  };
  readonly reserved_nanousd: bigint;
  readonly cost_nanousd: bigint;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface WebhookRequest {
  readonly url: string;
  /** Types of events, or groups of them like `job.*`; null, the default, for all. */
  readonly events?: readonly string[] | null | undefined;
}

/** Times are Unix seconds. */
export interface Webhook extends Open {
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[] | null;
  readonly status: 'active' | 'retrying' | 'failing';
  readonly created: number;
  readonly last_delivered_at: number | null;
  readonly failing_since: number | null;
  readonly pending: number;
  readonly dropped: number;
  readonly old_secret_expires_at: number | null;
}

export interface NewWebhook extends Webhook {
  /** Null if the webhook existed before. */
  readonly secret: string | null;
}

/** Times are Unix seconds. */
export interface Delivery extends Open {
  readonly id: string;
  readonly type: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly created: number;
  readonly last_attempt_at: number | null;
  readonly next_attempt_at: number | null;
  /** What the receiver answered last; null if nothing. */
  readonly http_status: number | null;
  readonly error: string | null;
}

/** A signed document, to be kept as it is. */
export interface Signed extends Open {
  readonly payload: string;
  readonly protected: string;
  readonly signature: string;
}
