import type { EventSink, FinishReason } from '../../canonical/events.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import { isText, type Members, objectsIn } from '../fields/members.ts';
import { readOpaque } from './reasoning-details.ts';

/** The host mixed the fragments of two tool calls; the common language cannot express that. */
export class CallsInterleaved extends Error {
  override readonly name = 'CallsInterleaved';
}

/** Turns repaired deltas into blocks, one open at a time: a block ends where another kind of content begins. */
export class DeltaEmitter {
  readonly #emit: EventSink;
  #open: 'text' | 'refusal' | 'reasoning' | number | null = null;
  #opaque: OpaqueReasoning | null = null;
  /** The id of an open call that has no name yet: some hosts send the name in a later fragment. */
  #unnamedId: string | null = null;

  constructor(emit: EventSink) {
    this.#emit = emit;
  }

  delta(delta: Members): void {
    this.#trace(delta);
    this.#words('text', delta.content);
    this.#words('refusal', delta.refusal);
    for (const call of objectsIn(delta.tool_calls)) this.#call(call);
  }

  finish(reason: FinishReason, raw: string | null): void {
    this.#close();
    this.#emit({ kind: 'finish', reason, raw, stopSequence: null });
  }

  #trace(delta: Members): void {
    const opaque = objectsIn(delta.reasoning_details)
      .map(readOpaque)
      .findLast((one) => one !== null);
    if (opaque !== undefined && this.#open !== 'reasoning') this.#begin('reasoning');
    this.#words('reasoning', delta.reasoning);
    if (opaque !== undefined) this.#opaque = opaque;
  }

  #words(kind: 'text' | 'refusal' | 'reasoning', text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    if (this.#open !== kind) this.#begin(kind);
    this.#emit({ kind: 'block-delta', text });
  }

  #begin(kind: 'text' | 'refusal' | 'reasoning'): void {
    this.#close();
    this.#open = kind;
    this.#emit({ kind: 'block-start', block: { kind } });
  }

  #call(call: Members): void {
    const index = call.index as number;
    const called = call.function as Members | undefined;
    if (this.#open !== index) {
      if (typeof call.id !== 'string') throw new CallsInterleaved('The host mixed the fragments of two tool calls.');
      this.#close();
      this.#open = index;
      this.#unnamedId = call.id;
    }
    if (isText(called?.name)) this.#beginCall(called.name);
    if (!isText(called?.arguments)) return;
    this.#beginCall('');
    this.#emit({ kind: 'block-delta', text: called.arguments });
  }

  #beginCall(name: string): void {
    const id = this.#unnamedId;
    if (id === null) return;
    this.#unnamedId = null;
    this.#emit({ kind: 'block-start', block: { kind: 'tool-call', id, name } });
  }

  #close(): void {
    if (this.#open === null) return;
    this.#beginCall('');
    this.#emit({ kind: 'block-end', opaque: this.#open === 'reasoning' ? this.#opaque : null });
    this.#opaque = null;
    this.#open = null;
  }
}

/** The finish reason in the common language; an unknown one becomes `stop`. */
export function finishReasonOf(reason: unknown): FinishReason {
  if (reason === 'length' || reason === 'tool_calls' || reason === 'content_filter') return reason;
  return reason === 'function_call' ? 'tool_calls' : 'stop';
}
