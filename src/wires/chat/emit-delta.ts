import type { EventSink, FinishReason } from '../../canonical/events.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import { isAbsent, type Members, objectsIn } from '../fields/members.ts';
import { WaitingRoom, WaitingText } from '../frames/waiting-text.ts';
import { readCallSignature } from './call-signatures.ts';
import { readOpaque, textIn } from './reasoning-details.ts';
import { WholeArguments } from './whole-arguments.ts';

/** The host went on with a tool call that has ended; the canonical form cannot express that. */
class CallsInterleaved extends Error {
  override readonly name = 'CallsInterleaved';
}

interface Fragment {
  readonly name: string;
  readonly words: string;
  readonly signature?: OpaqueReasoning | null;
}

/** A call that began while the arguments of another one were incomplete. */
interface WaitingCall {
  readonly id: string;
  name: string;
  signature: OpaqueReasoning | null;
  readonly words: WaitingText;
}

type WordKind = 'text' | 'refusal' | 'reasoning';

/** The room that a block takes beside its text. */
const CHARS_OF_EMPTY = 512;

/** A block of text that came while the arguments of a call were incomplete. */
interface LateBlock {
  readonly kind: WordKind;
  readonly words: WaitingText;
  opaque: OpaqueReasoning | null;
  hasEnded: boolean;
}

/** Turns repaired deltas into blocks, one open at a time: a block ends where another kind of content begins. */
export class DeltaEmitter {
  readonly #emit: EventSink;
  #open: WordKind | number | null = null;
  #opaque: OpaqueReasoning | null = null;
  /** The index of the last detail of reasoning. */
  #detailIndex: unknown;
  readonly #waiting = new Map<number, WaitingCall>();
  /** Text that came within the arguments of a call. It follows the call, because only one block is open at a time. */
  #late: LateBlock[] = [];
  readonly #room = new WaitingRoom();
  /** Of the open call. */
  #arguments = new WholeArguments();
  /** The id of an open call that has no name yet: some hosts send the name in a later fragment. */
  #unnamedId: string | null = null;

  /** The vendor that signs the calls; null if none does. */
  readonly #vendor: string | null;

  constructor(emit: EventSink, vendor: string | null = null) {
    this.#emit = emit;
    this.#vendor = vendor;
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

  #trace({ reasoning, reasoning_details: given }: Members): void {
    const details = objectsIn(given);
    const areSeveral = haveSeveralTexts(details);
    if (details.length > 0) this.#endSealed(details[0]!.index);
    if (!areSeveral) this.#words('reasoning', reasoning);
    for (const detail of details) {
      this.#endSealed(detail.index);
      if (areSeveral) this.#words('reasoning', textIn(detail));
      this.#seal(readOpaque(detail));
      this.#detailIndex = detail.index;
    }
  }

  /** A detail with another index belongs to another block, once the open one has its opaque part. */
  #endSealed(index: unknown): void {
    const isOther = isAbsent(index) || index !== this.#detailIndex;
    if (!isOther) return;
    const late = this.#late.at(-1);
    if (late !== undefined && late.opaque !== null) late.hasEnded = true;
    if (this.#open === 'reasoning' && this.#opaque !== null) this.#close();
  }

  #seal(opaque: OpaqueReasoning | null): void {
    if (opaque === null) return;
    if (this.#isCallIncomplete()) {
      this.#lateBlock('reasoning').opaque = opaque;
      return;
    }
    if (this.#open !== 'reasoning') this.#begin('reasoning');
    this.#opaque = opaque;
  }

  #words(kind: WordKind, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    if (this.#isCallIncomplete()) this.#lateBlock(kind).words.add(text);
    else this.#write(kind, text);
  }

  /** Whether a call is open that may go on. Many hosts send its name first, without any of its arguments. */
  #isCallIncomplete(): boolean {
    return typeof this.#open === 'number' && !this.#arguments.areWhole;
  }

  #write(kind: WordKind, text: string): void {
    if (this.#open !== kind) this.#begin(kind);
    this.#emit({ kind: 'block-delta', text });
  }

  #lateBlock(kind: WordKind): LateBlock {
    const last = this.#late.at(-1);
    if (last?.kind === kind && !last.hasEnded) return last;
    this.#room.take(CHARS_OF_EMPTY);
    const block: LateBlock = { kind, words: new WaitingText(this.#room), opaque: null, hasEnded: false };
    this.#late.push(block);
    return block;
  }

  #writeLate(): void {
    const late = this.#late;
    this.#late = [];
    for (const { kind, words, opaque } of late) {
      this.#begin(kind);
      for (const piece of words.pieces()) this.#write(kind, piece);
      this.#opaque = opaque;
    }
  }

  #begin(kind: WordKind): void {
    this.#close();
    this.#open = kind;
    this.#emit({ kind: 'block-start', block: { kind } });
  }

  #call(call: Members): void {
    const index = call.index as number;
    const called = call.function as Members | undefined;
    const signature = readCallSignature(call, this.#vendor);
    const fragment = { name: textOf(called?.name), words: textOf(called?.arguments), signature };
    if (this.#open === index) this.#continue(fragment);
    else if (this.#isWaiting(index, call.id)) this.#wait(index, fragment);
    else if (typeof call.id === 'string') this.#beginCall(index, call.id, fragment);
    // The call has ended. Some hosts pad the arguments that they have sent.
    else if (fragment.words.trim() !== '') {
      throw new CallsInterleaved('The host sent arguments of a tool call whose arguments were complete.');
    }
    this.#beginWaiting();
  }

  /** A call waits if the one before it may go on: hosts mix the fragments of calls that they make in parallel. */
  #isWaiting(index: number, id: unknown): boolean {
    if (this.#waiting.has(index)) return true;
    if (typeof id !== 'string' || !this.#isCallIncomplete()) return false;
    this.#waiting.set(index, { id, name: '', signature: null, words: new WaitingText(this.#room) });
    return true;
  }

  #wait(index: number, { name, words, signature = null }: Fragment): void {
    const call = this.#waiting.get(index)!;
    call.name ||= name;
    call.signature ??= signature;
    call.words.add(words);
  }

  #beginCall(index: number, id: string, fragment: Fragment): void {
    this.#end();
    this.#sign(fragment.signature ?? null);
    this.#open = index;
    this.#unnamedId = id;
    this.#arguments = new WholeArguments();
    this.#continue(fragment);
  }

  /** The signature comes before its call, in a block of its own. */
  #sign(opaque: OpaqueReasoning | null): void {
    if (opaque === null) return;
    this.#emit({ kind: 'block-start', block: { kind: 'reasoning' } });
    this.#emit({ kind: 'block-end', opaque });
  }

  #continue({ name, words }: Fragment): void {
    if (name !== '') this.#name(name);
    if (words === '') return;
    this.#name('');
    this.#arguments.add(words);
    this.#emit({ kind: 'block-delta', text: words });
  }

  #name(name: string): void {
    const id = this.#unnamedId;
    if (id === null) return;
    this.#unnamedId = null;
    this.#emit({ kind: 'block-start', block: { kind: 'tool-call', id, name } });
  }

  #beginWaiting(): void {
    while (this.#waiting.size > 0 && this.#arguments.areWhole) this.#beginNext();
    if (this.#late.length > 0 && this.#arguments.areWhole) this.#writeLate();
  }

  #beginNext(): void {
    const index = this.#waiting.keys().next().value!;
    const { id, name, signature, words } = this.#waiting.get(index)!;
    this.#waiting.delete(index);
    this.#beginCall(index, id, { name, words: '', signature });
    for (const piece of words.pieces()) this.#continue({ name: '', words: piece });
  }

  /** Ends the open block, and the calls and text that wait for its end. */
  #close(): void {
    while (this.#waiting.size > 0) this.#beginNext();
    if (this.#late.length > 0) this.#writeLate();
    this.#end();
  }

  #end(): void {
    if (this.#open === null) return;
    this.#name('');
    this.#emit({ kind: 'block-end', opaque: this.#open === 'reasoning' ? this.#opaque : null });
    this.#opaque = null;
    this.#open = null;
  }
}

/** Whether the texts of these details belong to different blocks, so that the whole trace is of no use. */
function haveSeveralTexts(details: readonly Members[]): boolean {
  const isOther = ({ index }: Members): boolean => isAbsent(index) || index !== details[0]!.index;
  return details.length > 1 && details.some(isOther) && details.some((detail) => textIn(detail) !== '');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The finish reason in the canonical form; an unknown one becomes `stop`. */
export function finishReasonOf(reason: unknown): FinishReason {
  if (reason === 'length' || reason === 'tool_calls' || reason === 'content_filter') return reason;
  return reason === 'function_call' ? 'tool_calls' : 'stop';
}
