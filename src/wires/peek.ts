import type { CacheWrites } from '../canonical/cache-writes.ts';
import type { Capability } from '../canonical/capability.ts';
import type { PromptSize } from '../canonical/prompt-size.ts';
import type { ReasoningAsk } from '../canonical/reasoning.ts';

/** A capability that the model must have, and the field that needs it; of a list, one is enough. */
export interface CapabilityNeed {
  readonly capability: Capability | readonly Capability[];
  readonly param: string;
}

/** The name of the output limit as the caller wrote it, or would write it on this wire. */
export function limitFieldOf({ outputLimit, limitParam }: Pick<Peek, 'outputLimit' | 'limitParam'>): string {
  return outputLimit?.field ?? limitParam ?? 'max_tokens';
}

export interface Peek {
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for a usage frame at the end of its stream. */
  readonly wantsUsageFrame: boolean;
  /** The caller's output limit and its field; null means the wire's default. */
  readonly outputLimit: { readonly tokens: number; readonly field: string } | null;
  readonly defaultOutputLimit: number;
  /** The name of the output limit on this wire; absent means `max_tokens`. */
  readonly limitParam?: string;
  /** How many choices one call may produce; each may reach the output limit. */
  readonly answers: number;
  /** How many prompts there are; the context window applies to each. Absent means one. */
  readonly prompts?: number;
  readonly needs: readonly CapabilityNeed[];
  readonly size: PromptSize;
  /** The whole prompt counts as a schema, its texts too; absent: only tools and formats do. */
  readonly countsAsSchema?: true;
  /** The cache writes that the request asks for; absent means none. */
  readonly cacheWrites?: CacheWrites;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly reasoning: ReasoningAsk | null;
  /** The field of the prompt, for the error that it is too long; absent means `messages`. */
  readonly promptParam?: string;
  /** The requested vector length; only on the embeddings wire. */
  readonly dimensions?: number | null;
  /** Headers of the caller that are forwarded to a host of the same wire. */
  readonly hostHeaders?: Readonly<Record<string, string>>;
}
