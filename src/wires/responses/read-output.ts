import type { BlockHead, CanonicalEvent, EventSink } from '../../canonical/events.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import { LIMITS } from '../../limits.ts';
import { isText, type Members, objectsIn } from '../fields/members.ts';
import { readOpaque } from './encrypted-reasoning.ts';
import { type CallKind, FUNCTION_CALL, OUTPUT_TEXT, type PartKind, partKindOf, REFUSAL } from './item-kinds.ts';
import type { HostNames } from './output-items.ts';
import { PARAGRAPH } from './read-items.ts';

type Kind = PartKind | CallKind;

/** Reads one output item into events; they wait until the items before it have ended. */
export class ItemReader implements HostNames {
  readonly type: unknown;
  readonly hostId: unknown;
  readonly hostIndex: unknown;
  /** The vendor of the host's encrypted reasoning. */
  readonly #vendor: string;
  #item: Members;
  #waiting: CanonicalEvent[] | null = [];
  #waitingChars = 0;
  #emit: EventSink = (event) => this.#wait(event);
  /** The current part, and all parts with text so far. */
  #open: string | null = null;
  readonly #partsWithText = new Set<string>();
  /** Reasoning may come as a summary and as raw text; only the first kind is used. */
  #reasoningKind: Kind | null = null;
  isFinished = false;

  constructor(item: Members, hostIndex: unknown, vendor: string) {
    this.#vendor = vendor;
    this.#item = item;
    this.type = item.type;
    this.hostId = item.id;
    this.hostIndex = hostIndex;
  }

  /** Emits the waiting events; from now on events are emitted at once. */
  open(emit: EventSink): void {
    const waiting = this.#waiting ?? [];
    this.#emit = emit;
    this.#waiting = null;
    for (const event of waiting) emit(event);
  }

  /** The text of a part: deltas, or the whole text if no delta came. */
  addText(kind: Kind, index: unknown, words: string, isWhole: boolean): void {
    const part = `${kind.type} ${index ?? 0}`;
    if (this.isFinished || (isWhole && this.#partsWithText.has(part)) || !this.#isWanted(kind)) return;
    if (this.#open !== part) this.#openPart(kind, part);
    this.#partsWithText.add(part);
    if (this.#partsWithText.size > LIMITS.outputItemsMax)
      throw new RangeError('the host sent too many parts in one item');
    this.#emit({ kind: 'block-delta', text: words });
  }

  #wait(event: CanonicalEvent): void {
    if (event.kind === 'block-delta') this.#waitingChars += event.text.length;
    if (this.#waitingChars > LIMITS.streamWordBytesMax) throw new RangeError("the host's response is too long");
    this.#waiting?.push(event);
  }

  finish(finished: Members): void {
    if (this.isFinished) return;
    this.#item = { ...this.#item, ...finished };
    if (this.type === 'function_call') this.#finishCall(finished);
    else for (const list of ['summary', 'content']) this.#finishParts(objectsIn(finished[list]));
    const opaque = this.type === 'reasoning' ? readOpaque(this.#item, this.#vendor) : null;
    if (opaque !== null && this.#open === null) this.#startBlock({ kind: 'reasoning' }, 'opaque');
    if (this.#open !== null) this.#endBlock(opaque);
    this.isFinished = true;
  }

  #finishCall(finished: Members): void {
    const words = finished.arguments;
    if (isText(words)) this.addText(FUNCTION_CALL, 0, words, true);
    if (this.#open === null) this.#openPart(FUNCTION_CALL, 'call');
  }

  #finishParts(parts: readonly Members[]): void {
    parts.forEach((part, index) => {
      const kind = partKindOf(part.type);
      const words = kind === undefined ? null : part[kind.words];
      if (kind !== undefined && isText(words)) this.addText(kind, index, words, true);
    });
  }

  #isWanted(kind: Kind): boolean {
    // A call cannot begin without its name.
    if (this.type === 'function_call') return kind === FUNCTION_CALL && isText(this.#item.name);
    if (this.type === 'message') return kind === OUTPUT_TEXT || kind === REFUSAL;
    if (this.type !== 'reasoning') return false;
    this.#reasoningKind ??= kind;
    return this.#reasoningKind === kind;
  }

  /** Each part of a message is a block; parts of reasoning are paragraphs of one block. */
  #openPart(kind: Kind, part: string): void {
    if (this.type === 'reasoning' && this.#open !== null) {
      this.#open = part;
      this.#emit({ kind: 'block-delta', text: PARAGRAPH });
      return;
    }
    if (this.#open !== null) this.#endBlock(null);
    this.#startBlock(this.#headOf(kind), part);
  }

  #headOf(kind: Kind): BlockHead {
    if (kind === REFUSAL) return { kind: 'refusal' };
    if (kind === OUTPUT_TEXT) return { kind: 'text' };
    if (kind !== FUNCTION_CALL) return { kind: 'reasoning' };
    const { call_id: id, name } = this.#item;
    return { kind: 'tool-call', id: String(id ?? this.hostId ?? ''), name: String(name ?? '') };
  }

  #startBlock(block: BlockHead, part: string): void {
    this.#open = part;
    this.#emit({ kind: 'block-start', block });
  }

  #endBlock(opaque: OpaqueReasoning | null): void {
    this.#open = null;
    this.#emit({ kind: 'block-end', opaque });
  }
}
