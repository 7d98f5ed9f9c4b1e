/** The size of a request's input, measured by its wire without a tokenizer; `money/bound-tokens` turns it into a token bound. */
export interface PromptSize {
  /** UTF-8 bytes of all text the model reads. */
  readonly textBytes: number;
  /** UTF-8 bytes of tool schemas, tool calls and their arguments; they count for more, because hosts escape them again. */
  readonly toolBytes: number;
  /** Characters (UTF-16 units) of the texts and tools; absent: as many as bytes, because all is ASCII. */
  readonly chars?: number;
  /** Bytes by which the NFKC form of the text or the tools is longer than the bounds above; absent if it is not. */
  readonly normalizedExtraBytes?: number;
  readonly messages: number;
  /** Parts of messages, and tool calls; absent: none. A message whose content is a string has no parts. */
  readonly parts?: number;
  /** Tools that are offered; a response format counts as one. */
  readonly tools: number;
  readonly images: number;
  /** Tokens that the caller sent as token ids (completions and embeddings wires). */
  readonly tokenIds: number;
  /** Most tokens that a vendor adds for tools that it defines itself; absent: none. */
  readonly vendorToolTokens?: number;
  /** Documents, whose pages only the host can count; absent: none. */
  readonly documents?: readonly DocumentSize[];
}

export interface DocumentSize {
  /** The size of the document itself, not of its base64 form. */
  readonly bytes: number;
  /** Plain text, as opposed to pages. */
  readonly isText: boolean;
}

/** The texts of a prompt, for counting its tokens. They are the same texts that its size was measured from. */
export interface PromptTexts {
  readonly texts: readonly string[];
  /** Tool schemas, tool calls and their arguments. */
  readonly toolTexts: readonly string[];
}
