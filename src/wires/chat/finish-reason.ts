/** The words of this wire. */
const REASONS = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/** What hosts of other descent say on this wire, in lower case. */
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

/** The reason in this wire's words, null where there is none; a stop after tool calls is a call for tools. */
export function mendFinishReason(reason: unknown, hasCalls: boolean): string | null {
  if (typeof reason !== 'string' || reason === '') return null;
  const word = REASONS.has(reason) ? reason : translate(reason);
  return word === 'stop' && hasCalls ? 'tool_calls' : word;
}

/** A word nobody knows is passed on: to call it a stop would be a guess. */
function translate(reason: string): string {
  const lower = reason.toLowerCase();
  if (REASONS.has(lower)) return lower;
  return Object.hasOwn(SYNONYMS, lower) ? SYNONYMS[lower]! : reason;
}

/** The host's way of saying that it broke off, where a reason to end should be. */
export function isFailure(reason: unknown): boolean {
  return reason === 'error';
}
