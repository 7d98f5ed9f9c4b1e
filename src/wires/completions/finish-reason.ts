import type { FinishReason } from '../../canonical/events.ts';

/** The finish reasons of this wire. */
const REASONS = new Set(['stop', 'length', 'content_filter']);

/** Finish reasons that other engines send. */
const SYNONYMS: Readonly<Record<string, string>> = {
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_length: 'length',
  safety: 'content_filter',
};

/** The finish reason of this wire, or null; an unknown one is passed on. */
export function mendFinishReason(reason: unknown): string | null {
  if (typeof reason !== 'string' || reason === '') return null;
  if (REASONS.has(reason)) return reason;
  const lower = reason.toLowerCase();
  if (REASONS.has(lower)) return lower;
  return Object.hasOwn(SYNONYMS, lower) ? SYNONYMS[lower]! : reason;
}

/** Finish reasons by which hosts and engines say that they broke off. */
const FAILURES: ReadonlySet<unknown> = new Set(['error', 'abort', 'insufficient_system_resource']);

export function isFailure(reason: unknown): boolean {
  return FAILURES.has(reason);
}

/** The finish reason in the canonical form; this wire has no tool calls. */
export function writeFinishReason(reason: FinishReason): string {
  return reason === 'tool_calls' ? 'stop' : reason;
}
