import type { Capability } from '../canonical/capability.ts';
import type { PromptSize } from '../canonical/prompt-size.ts';
import type { ReasoningAsk } from '../canonical/reasoning.ts';

/** A need that the model's capabilities must cover, with the field that makes it; of several, any one will do. */
export interface CapabilityNeed {
  readonly capability: Capability | readonly Capability[];
  readonly param: string;
}

export interface Peek {
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for a usage frame at the end of its stream. */
  readonly wantsUsageFrame: boolean;
  /** The output limit the caller gave and the field it stood in, or null for the wire's default. */
  readonly outputLimit: { readonly tokens: number; readonly field: string } | null;
  readonly defaultOutputLimit: number;
  /** What this wire calls the output limit; absent means `max_tokens`. */
  readonly limitParam?: string;
  /** How many answers one call may produce; each may reach the output limit. */
  readonly answers: number;
  /** How many prompts the window holds for, each by itself; absent means one. */
  readonly prompts?: number;
  readonly needs: readonly CapabilityNeed[];
  readonly size: PromptSize;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly reasoning: ReasoningAsk | null;
  /** The field the prompt stands in, for the message that finds it too long; absent means `messages`. */
  readonly promptParam?: string;
  /** Length asked for of every vector; only on the embeddings wire. */
  readonly dimensions?: number | null;
  /** Headers of the caller's that go to a host of the same wire. */
  readonly hostHeaders?: Readonly<Record<string, string>>;
}
