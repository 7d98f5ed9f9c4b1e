import { countTokens } from './tokens.ts';

/** A request in the simulator's own form; every wire reads its requests into this. */
export interface Prompt {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelTools: boolean;
  readonly effort: Effort;
  /** Null: as much as the window allows. */
  readonly outputTokensMax: number | null;
  readonly stops: readonly string[];
  readonly format: AnswerFormat;
}

export interface PromptMessage {
  readonly role: string;
  readonly text: string;
  /** URLs of images; every image costs the same. */
  readonly images: readonly string[];
  readonly toolCalls: readonly PromptToolCall[];
  /** The tool call that this message answers. */
  readonly toolCallId: string | null;
}

export interface PromptToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface PromptTool {
  readonly name: string;
  /** The tool as the model reads it, for counting and caching. */
  readonly definition: string;
  readonly schema: unknown;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

export type AnswerFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'object' }
  | { readonly kind: 'schema'; readonly schema: unknown };

export const MESSAGE_TOKENS = 4;
export const TOOL_TOKENS = 8;
export const IMAGE_TOKENS = 85;

const WINDOW_TOKENS = 128_000;
const SMALL_WINDOW_TOKENS = 8_192;
/** Models whose windows differ from the usual one; the catalog has the same numbers. */
const WINDOWS: Readonly<Record<string, number>> = { 'sim-gpt': 400_000, 'sim-embed': SMALL_WINDOW_TOKENS };

export function windowOf(model: string): number {
  if (model.endsWith('-small')) return SMALL_WINDOW_TOKENS;
  return Object.hasOwn(WINDOWS, model) ? WINDOWS[model]! : WINDOW_TOKENS;
}

/** A part of the prompt. Counting and caching use the same list, so they cannot disagree. */
export interface PromptSegment {
  /** Tells segments apart without costing tokens: a role, or the URL of an image. */
  readonly mark: string;
  readonly fixedTokens: number;
  readonly text: string;
}

export function segmentsOf(prompt: Prompt): PromptSegment[] {
  const segments: PromptSegment[] = [];
  for (const tool of prompt.tools) segments.push({ mark: 'tool', fixedTokens: TOOL_TOKENS, text: tool.definition });
  if (prompt.format.kind === 'schema') {
    segments.push({ mark: 'format', fixedTokens: 0, text: JSON.stringify(prompt.format.schema) ?? '' });
  }
  for (const message of prompt.messages) addMessage(segments, message);
  return segments;
}

function addMessage(segments: PromptSegment[], message: PromptMessage): void {
  segments.push({ mark: message.role, fixedTokens: MESSAGE_TOKENS, text: message.text });
  for (const image of message.images) segments.push({ mark: image, fixedTokens: IMAGE_TOKENS, text: '' });
  for (const call of message.toolCalls) {
    segments.push({ mark: 'call', fixedTokens: 0, text: call.name });
    segments.push({ mark: 'arguments', fixedTokens: 0, text: call.arguments });
  }
}

export function countSegments(segments: readonly PromptSegment[]): number {
  let tokens = 0;
  for (const segment of segments) tokens += segment.fixedTokens + countTokens(segment.text);
  return tokens;
}
