import type { HostError } from './host-error.ts';
import type { OpaqueReasoning } from './request.ts';
import type { UsageReading } from './usage.ts';

/** Why a response ended; every wire has a word for each. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export type BlockHead =
  | { readonly kind: 'text' }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'reasoning' }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string };

/**
 * A response in the canonical form, as seven events: `start`, then blocks, one open at a time, with `usage` anywhere,
 * then `finish`; `error` may come at any point. A buffered response is the fold of the same events.
 */
export type CanonicalEvent =
  | { readonly kind: 'start'; readonly id: string | null; readonly createdS: number | null }
  | { readonly kind: 'block-start'; readonly block: BlockHead }
  | { readonly kind: 'block-delta'; readonly text: string }
  | { readonly kind: 'block-end'; readonly opaque: OpaqueReasoning | null }
  | { readonly kind: 'usage'; readonly reading: UsageReading }
  | FinishEvent
  | { readonly kind: 'error'; readonly error: HostError };

/** The end of the response: only `usage` may follow. */
export interface FinishEvent {
  readonly kind: 'finish';
  readonly reason: FinishReason;
  /** The host's own finish reason. */
  readonly raw: string | null;
  readonly stopSequence: string | null;
}

export type EventSink = (event: CanonicalEvent) => void;

/** A buffered response: the fold of its events. */
export interface CanonicalResponse {
  readonly id: string | null;
  readonly createdS: number | null;
  readonly blocks: readonly ResponseBlock[];
  readonly finish: FinishEvent;
  readonly usage: UsageReading;
}

export interface ResponseBlock {
  readonly head: BlockHead;
  readonly text: string;
  readonly opaque: OpaqueReasoning | null;
}
