/** The size of a request's input, measured by its wire without a tokenizer; `money/bound-tokens` turns it into a token bound. */
export interface PromptSize {
  /** UTF-8 bytes of all text the model reads. */
  readonly textBytes: number;
  /** UTF-8 bytes of tool schemas, tool calls and their arguments; they count for more, because hosts escape them again. */
  readonly toolBytes: number;
  readonly messages: number;
  readonly tools: number;
  readonly images: number;
  /** Tokens that the caller sent as token ids (completions and embeddings wires). */
  readonly tokenIds: number;
  /** Most tokens that a vendor adds for tools that it defines itself; absent: none. */
  readonly vendorToolTokens?: number;
  /** Documents, whose pages only the host can count; absent: none. */
  readonly documents?: number;
}
