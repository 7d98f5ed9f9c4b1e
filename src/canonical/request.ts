import type { Effort } from './reasoning.ts';

/**
 * A request in the canonical form between wires. It has only what at least two wires can express; a field that cannot
 * be translated is refused by name.
 */
export interface CanonicalRequest {
  readonly messages: readonly CanonicalMessage[];
  readonly tools: readonly CanonicalTool[];
  readonly toolChoice: ToolChoice | null;
  /** False asks for one tool call at a time; null leaves it to the model. */
  readonly parallelToolCalls: boolean | null;
  readonly sampling: Sampling;
  readonly responseFormat: ResponseFormat | null;
  readonly reasoning: CanonicalReasoning | null;
  /** How long the answer should be; null leaves it at the default, which is in between. */
  readonly verbosity: 'low' | 'high' | null;
  /** How long the host should keep its cache of the prompt, in its own word; absent: as it likes. */
  readonly cacheRetention?: string;
  /** Leaves it to the host where in the prompt it puts a mark. */
  readonly cache?: CacheMark;
}

export type Role = 'system' | 'user' | 'assistant';

/** Tool results are in user messages, in the order of their calls. */
export interface CanonicalMessage {
  readonly role: Role;
  readonly blocks: readonly Block[];
}

export type Block = ShownBlock | RefusalBlock | ReasoningBlock | ToolCallBlock | ToolResultBlock;

/** What messages and tool results can show to the model. */
export type ShownBlock = TextBlock | ImageBlock | DocumentBlock;

/** Marks that the host may cache the prompt up to here. */
export interface CacheMark {
  readonly lifetime: '5m' | '1h' | null;
  /** The caller's name for it, if not the wire's usual one. */
  readonly writtenAs?: string;
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

/** A document inside the request; hosts read its pages. */
export interface DocumentBlock {
  readonly kind: 'document';
  readonly mediaType: string;
  readonly base64: string;
  readonly filename: string | null;
  readonly cache?: CacheMark;
}

/** Reasoning text of the model. Its opaque part goes back byte for byte, and only to the vendor that made it. */
export interface ReasoningBlock {
  readonly kind: 'reasoning';
  readonly text: string;
  readonly opaque: OpaqueReasoning | null;
}

export interface OpaqueReasoning {
  /** The vendor that made it, by the name in the wire's own constant. */
  readonly vendor: string;
  /** A signature over the text, a whole redacted block, or encrypted content. */
  readonly form: 'signature' | 'redacted' | 'encrypted';
  readonly data: string;
  /** The item's id, if the vendor wants it back. */
  readonly id?: string;
}

export interface ToolCallBlock {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The JSON text that the model wrote; empty means no arguments. */
  readonly argumentsJson: string;
  readonly cache?: CacheMark;
}

export interface ToolResultBlock {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly content: readonly ShownBlock[];
  readonly isError: boolean;
  readonly cache?: CacheMark;
}

export interface CanonicalTool {
  readonly name: string;
  readonly description: string | null;
  /** The JSON schema of the arguments, as the caller sent it. */
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
  /** As the caller wrote it: hosts take integers of 64 bits, which a number would round. */
  readonly seed: unknown;
  readonly stop: readonly string[];
}

export type ResponseFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema';
      readonly name: string;
      readonly description: string | null;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean | null;
    };

/** What the caller asked for; the effort is already a level that the model has. */
export interface CanonicalReasoning {
  readonly effort: Effort | null;
  readonly budgetTokens: number | null;
}
