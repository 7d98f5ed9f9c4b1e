/** The finish reasons of this wire. */
const REASONS = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/** Finish reasons that other hosts send on this wire, in lower case. */
const SYNONYMS: Readonly<Record<string, string>> = {
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  blocklist: 'content_filter',
  prohibited_content: 'content_filter',
  spii: 'content_filter',
};

/** The finish reason of this wire, or null; `stop` after tool calls becomes `tool_calls`. */
export function mendFinishReason(reason: unknown, hasCalls: boolean): string | null {
  if (typeof reason !== 'string' || reason === '') return null;
  const word = REASONS.has(reason) ? reason : translate(reason);
  return word === 'stop' && hasCalls ? 'tool_calls' : word;
}

/** An unknown reason is passed on; replacing it would be a guess. */
function translate(reason: string): string {
  const lower = reason.toLowerCase();
  if (REASONS.has(lower)) return lower;
  return Object.hasOwn(SYNONYMS, lower) ? SYNONYMS[lower]! : reason;
}

/** Finish reasons by which hosts and engines say that they broke off. */
const FAILURES: ReadonlySet<unknown> = new Set(['error', 'abort', 'insufficient_system_resource']);

export function isFailure(reason: unknown): boolean {
  return FAILURES.has(reason);
}
