import type { Effort } from './reasoning.ts';

/**
 * A request in the common language, which different wires meet in. It holds only what at least two wires can say;
 * what a wire cannot put into it, or take out of it, is refused by name.
 */
export interface CanonicalRequest {
  readonly messages: readonly CanonicalMessage[];
  readonly tools: readonly CanonicalTool[];
  readonly toolChoice: ToolChoice | null;
  /** False asks for one tool call at a time; null leaves it to the model. */
  readonly parallelToolCalls: boolean | null;
  readonly sampling: Sampling;
  readonly answerFormat: AnswerFormat | null;
  readonly reasoning: CanonicalReasoning | null;
}

export type Role = 'system' | 'user' | 'assistant';

/** Tool results stand in user messages, in the order of the calls they answer. */
export interface CanonicalMessage {
  readonly role: Role;
  readonly blocks: readonly Block[];
}

export type Block = TextBlock | RefusalBlock | ImageBlock | ReasoningBlock | ToolCallBlock | ToolResultBlock;

/** A mark that everything up to here may be kept in the host's prompt cache. */
export interface CacheMark {
  readonly lifetime: '5m' | '1h' | null;
}

export interface TextBlock {
  readonly kind: 'text';
  readonly text: string;
  readonly cache?: CacheMark;
}

export interface RefusalBlock {
  readonly kind: 'refusal';
  readonly text: string;
}

export interface ImageBlock {
  readonly kind: 'image';
  readonly source:
    | { readonly kind: 'inline'; readonly mediaType: string; readonly base64: string }
    | { readonly kind: 'url'; readonly url: string };
  readonly detail: 'low' | 'high' | 'auto' | 'original' | null;
  readonly cache?: CacheMark;
}

/** A trace the model wrote. Its opaque part goes back byte for byte, and only to the vendor that made it. */
export interface ReasoningBlock {
  readonly kind: 'reasoning';
  readonly text: string;
  readonly opaque: OpaqueReasoning | null;
}

export interface OpaqueReasoning {
  /** Whose it is, as the wire that read it names it; see the wire's own constant. */
  readonly vendor: string;
  /** A signature over the text, a whole redacted block, or encrypted content. */
  readonly form: 'signature' | 'redacted' | 'encrypted';
  readonly data: string;
  /** The item's own id, where the vendor wants it back. */
  readonly id?: string;
}

export interface ToolCallBlock {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it; empty means no arguments. */
  readonly argumentsJson: string;
}

export interface ToolResultBlock {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly content: readonly (TextBlock | ImageBlock)[];
  readonly isError: boolean;
  readonly cache?: CacheMark;
}

export interface CanonicalTool {
  readonly name: string;
  readonly description: string | null;
  /** The JSON schema of the arguments, as the caller wrote it. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly strict: boolean | null;
  readonly cache?: CacheMark;
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string };

export interface Sampling {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly frequencyPenalty: number | null;
  readonly presencePenalty: number | null;
  readonly seed: number | null;
  readonly stop: readonly string[];
}

export type AnswerFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema';
      readonly name: string;
      readonly description: string | null;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean | null;
    };

/** What the caller asked for, with the effort already mapped to a level the model has. */
export interface CanonicalReasoning {
  readonly effort: Effort | null;
  readonly budgetTokens: number | null;
}
