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

export interface JobRequest extends Open {
  /** The route of the call, as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly body: object;
}

export interface Job extends Open {
  readonly id: string;
  readonly status: string;
  readonly reserved_nanousd: bigint;
  readonly cost_nanousd: bigint | null;
}

export interface JobGroup extends Open {
  readonly id: string;
}

export interface JobList extends Open {
  readonly data: readonly Job[];
  readonly has_more: boolean;
}
