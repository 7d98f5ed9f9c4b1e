/** What somebody says to a model, and what it answers. */
export type Entry =
  | { readonly role: 'user'; readonly text: string; readonly images: readonly string[] }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callIds: readonly string[]; readonly text: string };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly input: string;
}

export interface Terms {
  readonly model: string;
  readonly system: string;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  /** Tools in the format of the chat route, which others are written from. */
  readonly tools: readonly FunctionTool[];
}

export interface FunctionTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: unknown;
}

/** A part of an answer as it arrives. */
export type Piece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool'; readonly id?: string; readonly name?: string; readonly input: string }
  | { readonly type: 'error'; readonly message: string };

/** One of the chat routes: how a conversation is sent, and how the answer is read. */
export interface Wire {
  readonly name: WireName;
  readonly label: string;
  readonly path: string;
  body(terms: Terms, entries: readonly Entry[]): Readonly<Record<string, unknown>>;
  read(event: unknown): readonly Piece[];
}

export type WireName = 'chat' | 'messages' | 'responses';

/** The text beside images. Hosts refuse an empty one. */
export function textPartOf({ text }: Pick<Entry, 'text'>, type: string): readonly { type: string; text: string }[] {
  return text.trim() === '' ? [] : [{ type, text }];
}

/** The parts of `data:image/png;base64,…`. */
export function splitDataUrl(url: string): { readonly mediaType: string; readonly base64: string } {
  const [, mediaType = 'image/png', base64 = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { mediaType, base64 };
}
