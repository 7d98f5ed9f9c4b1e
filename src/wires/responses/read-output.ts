import type { BlockHead, CanonicalEvent, EventSink } from '../../canonical/events.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import { randomBase62 } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import { isText, type Members, objectsIn } from '../fields/members.ts';
import { type WaitingRoom, WaitingText } from '../frames/waiting-text.ts';
import { callWords } from './complete-item.ts';
import { readOpaque } from './encrypted-reasoning.ts';
import {
  type CallKind,
  FUNCTION_CALL,
  OUTPUT_TEXT,
  type PartKind,
  partKindOf,
  REFUSAL,
  SUMMARY_TEXT,
} from './item-kinds.ts';
import type { HostNames } from './match-output.ts';
import { PARAGRAPH } from './read-items.ts';

type Kind = PartKind | CallKind;

/** A part with text; `isWhole` once the host has ended it. */
interface ReadPart {
  readonly kind: Kind;
  readonly hostIndex: unknown;
  isWhole: boolean;
}

/** Reads one output item into events; they wait until the items before it have ended. */
export class ItemReader implements HostNames {
  readonly type: unknown;
  readonly hostId: unknown;
  readonly hostIndex: unknown;
  /** The vendor of the host's encrypted reasoning. */
  readonly #vendor: string;
  readonly #room: WaitingRoom;
  #item: Members;
  /** Deltas that follow one another are one text. */
  #waiting: (CanonicalEvent | WaitingText)[] | null = [];
  #emit: EventSink = (event) => this.#wait(event);
  /** The current part, and all parts with text so far. */
  #open: ReadPart | null = null;
  readonly #parts: ReadPart[] = [];
  /** Reasoning may come as a summary and as raw text; only the first kind is used. */
  #reasoningKind: Kind | null = null;
  isFinished = false;

  constructor(item: Members, hostIndex: unknown, vendor: string, room: WaitingRoom) {
    this.#vendor = vendor;
    this.#room = room;
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
    for (const event of waiting) {
      if (!(event instanceof WaitingText)) emit(event);
      else for (const text of event.pieces()) emit({ kind: 'block-delta', text });
    }
  }

  /** A piece of a part's text. */
  addDelta(kind: Kind, hostIndex: unknown, words: string): void {
    if (this.isFinished || !this.#isWanted(kind)) return;
    const isMeant = (part: ReadPart): boolean =>
      part.kind === kind && !part.isWhole && (hostIndex === undefined || part.hostIndex === hostIndex);
    this.#add(this.#parts.findLast(isMeant) ?? this.#newPart(kind, hostIndex), words);
  }

  /** The whole text of a part; it is used only if no delta came. A host may number it differently from its deltas. */
  addWhole(kind: Kind, hostIndex: unknown, words: string): void {
    if (this.isFinished || !this.#isWanted(kind)) return;
    const parts = this.#parts.filter((part) => part.kind === kind);
    const known = parts.findLast((part) => part.hostIndex === hostIndex) ?? parts.find(({ isWhole }) => !isWhole);
    const part = known ?? this.#newPart(kind, hostIndex);
    if (known === undefined) this.#add(part, words);
    part.isWhole = true;
  }

  #newPart(kind: Kind, hostIndex: unknown): ReadPart {
    if (this.#parts.length >= LIMITS.outputItemsMax) throw new RangeError('the host sent too many parts in one item');
    const part = { kind, hostIndex, isWhole: false };
    this.#parts.push(part);
    return part;
  }

  #add(part: ReadPart, words: string): void {
    if (this.#open !== part) this.#openPart(part);
    this.#emit({ kind: 'block-delta', text: words });
  }

  #wait(event: CanonicalEvent): void {
    if (event.kind === 'block-delta') this.#waitingText().add(event.text);
    else this.#waiting?.push(event);
  }

  #waitingText(): WaitingText {
    const last = this.#waiting?.at(-1);
    if (last instanceof WaitingText) return last;
    const text = new WaitingText(this.#room);
    this.#waiting?.push(text);
    return text;
  }

  finish(finished: Members): void {
    if (this.isFinished) return;
    this.#item = { ...this.#item, ...finished };
    if (this.type === 'function_call') this.#finishCall(finished);
    else for (const list of ['summary', 'content']) this.#finishParts(objectsIn(finished[list]));
    const opaque = this.type === 'reasoning' ? readOpaque(this.#item, this.#vendor) : null;
    if (opaque !== null && this.#open === null) this.#openPart(this.#newPart(SUMMARY_TEXT, undefined));
    if (this.#open !== null) this.#endBlock(opaque);
    this.isFinished = true;
  }

  #finishCall(finished: Members): void {
    const words = callWords(finished.arguments);
    if (words !== '') this.addWhole(FUNCTION_CALL, 0, words);
    if (this.#open === null) this.#openPart(this.#newPart(FUNCTION_CALL, 0));
  }

  /** Parts are matched by kind and order: their numbers in the stream may have been wrong. */
  #finishParts(finished: readonly Members[]): void {
    const unmatched = [...this.#parts];
    for (const part of finished) {
      const kind = partKindOf(part.type);
      const words = kind === undefined ? null : part[kind.words];
      if (kind === undefined || !isText(words) || !this.#isWanted(kind)) continue;
      const at = unmatched.findIndex((known) => known.kind === kind);
      if (at === -1) this.#add(this.#newPart(kind, undefined), words);
      else unmatched.splice(at, 1);
    }
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
  #openPart(part: ReadPart): void {
    const isParagraph = this.type === 'reasoning' && this.#open !== null;
    if (this.#open !== null && !isParagraph) this.#endBlock(null);
    this.#open = part;
    if (isParagraph) this.#emit({ kind: 'block-delta', text: PARAGRAPH });
    else this.#emit({ kind: 'block-start', block: this.#headOf(part.kind) });
  }

  #headOf(kind: Kind): BlockHead {
    if (kind === REFUSAL) return { kind: 'refusal' };
    if (kind === OUTPUT_TEXT) return { kind: 'text' };
    if (kind !== FUNCTION_CALL) return { kind: 'reasoning' };
    const { call_id: id, name } = this.#item;
    const known = [id, this.hostId].find(isText);
    return { kind: 'tool-call', id: known ?? `call_${randomBase62(24)}`, name: String(name ?? '') };
  }

  #endBlock(opaque: OpaqueReasoning | null): void {
    this.#open = null;
    this.#emit({ kind: 'block-end', opaque });
  }
}
