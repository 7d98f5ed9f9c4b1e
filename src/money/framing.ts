import { LIMITS } from '../limits.ts';

/** Tokens that the hosts of a model add to what the caller sent: their chat template, and their own words about tools. */
export interface Framing {
  /** Once per prompt. */
  readonly prompt: number;
  /** Per message; per input of an embeddings call. */
  readonly message: number;
  /** Per part of a message, and per tool call. */
  readonly part: number;
  /** Per tool that is offered; a response format counts as one. */
  readonly tool: number;
  /** Once per prompt if any tool is offered. */
  readonly tools: number;
}

/** For a chat model about which nothing is known: more than any host in the recordings adds. */
export const DEFAULT_FRAMING: Framing = {
  prompt: LIMITS.promptFramingTokens,
  message: LIMITS.messageFramingTokens,
  part: LIMITS.partFramingTokens,
  tool: LIMITS.toolFramingTokens,
  tools: LIMITS.toolPreambleTokens,
};

/** For a model that reads plain text: only markers of its beginning and end, or a short instruction, are added. */
export const PLAIN_FRAMING: Framing = {
  ...DEFAULT_FRAMING,
  prompt: LIMITS.plainPromptFramingTokens,
  message: LIMITS.plainMessageFramingTokens,
};
