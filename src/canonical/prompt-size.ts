/** What a request's input weighs, measured by its wire without any tokenizer; `money/bound-tokens` turns it into a bound. */
export interface PromptSize {
  /** UTF-8 bytes of all text the model reads. */
  readonly textBytes: number;
  /** UTF-8 bytes of tool schemas, tool calls and their arguments: hosts re-escape these, so they weigh more. */
  readonly toolBytes: number;
  readonly messages: number;
  readonly tools: number;
  readonly images: number;
  /** Tokens the caller sent as ready-made token ids (completions and embeddings wires). */
  readonly tokenIds: number;
}
