import type { FinishReason } from '../../canonical/events.ts';

/** The words of this wire. */
const REASONS = new Set(['stop', 'length', 'content_filter']);

/** What engines behind this wire say instead. */
const SYNONYMS: Readonly<Record<string, string>> = {
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_length: 'length',
  safety: 'content_filter',
};

/** The reason in this wire's words, null where there is none; a word nobody knows is passed on rather than guessed at. */
export function mendFinishReason(reason: unknown): string | null {
  if (typeof reason !== 'string' || reason === '') return null;
  if (REASONS.has(reason)) return reason;
  const lower = reason.toLowerCase();
  if (REASONS.has(lower)) return lower;
  return Object.hasOwn(SYNONYMS, lower) ? SYNONYMS[lower]! : reason;
}

/** The host's way of saying that it broke off, where a reason to end should be. */
export function isFailure(reason: unknown): boolean {
  return reason === 'error';
}

/** Why an answer ended, for a wire that knows no calls of tools. */
export function writeFinishReason(reason: FinishReason): string {
  return reason === 'tool_calls' ? 'stop' : reason;
}
