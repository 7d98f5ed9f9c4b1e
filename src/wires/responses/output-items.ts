import { LIMITS } from '../../limits.ts';
import { isText, type Members, objectsIn } from '../fields/members.ts';
import { callWords, emptyItem, identifyItem, partOf } from './complete-item.ts';
import type { EventNumbers } from './event-numbers.ts';
import { type CallKind, callKindOf, type EventRole, type PartKind, partKindOf } from './item-kinds.ts';
import { findItem, findPart, type HostNames, type KnownPart, matchParts } from './match-output.ts';

/** What the client has received of a part. */
export interface Part extends KnownPart {
  readonly index: number;
}

/** What the client has received of an item; it keeps the identity it was added with. */
export interface Item extends HostNames {
  readonly index: number;
  readonly id: string;
  readonly type: unknown;
  readonly begun: Members;
  readonly content: Part[];
  readonly summary: Part[];
  /** Arguments of the call. */
  words: string;
  areWordsDone: boolean;
  finished: Members | null;
  /** The item of the host's last event. */
  lastVersion: Members | null;
}

/** The items of one response; writes the events that a client still needs for an item. */
export class OutputItems {
  readonly all: Item[] = [];
  readonly #numbers: EventNumbers;
  readonly #idStem: string;
  /** Bytes of text that no event of the host had carried. */
  wordBytes = 0;

  constructor(numbers: EventNumbers, idStem: string) {
    this.#numbers = numbers;
    this.#idStem = idStem;
  }

  find(id: unknown, index: unknown): Item | undefined {
    return findItem(this.all, id, index);
  }

  /**
   * The item that a done event ends. If neither its id nor its index is known, it is the first unfinished one of its type; a
   * call must also have its call id.
   */
  findFinished(finished: Members, hostIndex: unknown): Item | undefined {
    const known = this.find(finished.id, hostIndex);
    if (known?.type === finished.type) return known;
    const open = this.all.find((item) => item.type === finished.type && item.finished === null);
    const isSame = callKindOf(finished.type) === undefined || open?.begun.call_id === finished.call_id;
    return isSame ? open : undefined;
  }

  /** Records an item before it is sent to the client, and repairs it in place. */
  add(item: Members, hostIndex: unknown): { item: Item; changed: boolean } {
    const index = this.all.length;
    if (index >= LIMITS.outputItemsMax) throw new RangeError('the host sent too many output items');
    const hostId = item.id;
    if (this.all.some(({ id }) => id === hostId)) item.id = undefined;
    const isIdentified = identifyItem(item, this.#idStem, index);
    const changed = emptyItem(item) || isIdentified;
    const added: Item = {
      index,
      id: item.id as string,
      type: item.type,
      begun: item,
      hostIndex,
      hostId,
      content: [],
      summary: [],
      words: '',
      areWordsDone: false,
      finished: null,
      lastVersion: null,
    };
    this.all.push(added);
    return { item: added, changed };
  }

  writeAdded({ index, begun }: Item): string {
    return this.#numbers.write('response.output_item.added', { output_index: index, item: begun });
  }

  /** The part of an event, or a new one at the end; `written` is the event that adds it. */
  part(item: Item, kind: PartKind, hostIndex: unknown, act: EventRole['act']): { part: Part; written: string } {
    const known = findPart(item[kind.list], kind, hostIndex, act);
    return known === undefined ? this.#addPart(item, kind, hostIndex) : { part: known, written: '' };
  }

  newPart(item: Item, kind: PartKind, hostIndex: unknown): Part {
    const list = item[kind.list];
    if (list.length >= LIMITS.outputItemsMax) throw new RangeError('the host sent too many parts in one item');
    const part = { kind, hostIndex, index: list.length, words: '', areWordsDone: false, isDone: false };
    list.push(part);
    return part;
  }

  #addPart(item: Item, kind: PartKind, hostIndex: unknown): { part: Part; written: string } {
    const part = this.newPart(item, kind, hostIndex);
    return { part, written: this.#writePart(kind.added, item, part, { part: partOf(kind, '') }) };
  }

  /** The events that the client still needs for a finished item, including its end. */
  writeRest(item: Item, finished: Members): string {
    let text = '';
    const call = callKindOf(item.type);
    if (call !== undefined) text += this.#writeRestOfCall(item, call, callWords(finished[call.words]));
    for (const list of ['summary', 'content'] as const) {
      const parts = objectsIn(finished[list]);
      const known = matchParts(item[list], parts);
      parts.forEach((part, at) => {
        const kind = partKindOf(part.type);
        if (kind?.list === list) text += this.#writeRestOfPart(item, kind, known[at], part);
      });
    }
    return text;
  }

  writeDone(item: Item, finished: Members): string {
    item.finished = finished;
    return this.#numbers.write('response.output_item.done', { output_index: item.index, item: finished });
  }

  /** All events of an item that was not sent before. */
  writeWhole(finished: Members, hostIndex: unknown): string {
    const { item } = this.add({ ...finished }, hostIndex);
    const whole = { ...finished, ...identityOf(item) };
    return this.writeAdded(item) + this.writeRest(item, whole) + this.writeDone(item, whole);
  }

  writePartDone(item: Item, part: Part, finished: Members): string {
    const wordsDone = part.areWordsDone ? '' : this.#writeWordsDone(item, part);
    part.isDone = true;
    return wordsDone + this.#writePart(part.kind.done, item, part, { part: finished });
  }

  /** The text of a part that came without deltas, as one delta. */
  writeWords(item: Item, part: Part, words: unknown): string {
    if (part.words !== '' || !isText(words)) return '';
    part.words = words;
    this.wordBytes += Buffer.byteLength(words);
    return this.#writePart(part.kind.delta, item, part, { delta: words, ...logprobsOf(part.kind) });
  }

  /** The arguments of a call that came without deltas, as one delta. */
  writeCallWords(item: Item, { delta }: CallKind, words: unknown): string {
    if (item.words !== '' || !isText(words)) return '';
    item.words = words;
    this.wordBytes += Buffer.byteLength(words);
    return this.#numbers.write(delta, { item_id: item.id, output_index: item.index, delta: words });
  }

  #writeRestOfPart(item: Item, kind: PartKind, known: Part | undefined, finished: Members): string {
    const { part, written } = known === undefined ? this.#addPart(item, kind, undefined) : { part: known, written: '' };
    const text = written + this.writeWords(item, part, finished[kind.words]);
    return part.isDone ? text : text + this.writePartDone(item, part, finished);
  }

  #writeWordsDone(item: Item, part: Part): string {
    part.areWordsDone = true;
    const { kind, words } = part;
    return this.#writePart(kind.wordsDone, item, part, { [kind.words]: words, ...logprobsOf(kind) });
  }

  #writePart(type: string, { id, index }: Item, part: Part, members: Members): string {
    const place = { item_id: id, output_index: index, [part.kind.indexName]: part.index };
    return this.#numbers.write(type, { ...place, ...members });
  }

  #writeRestOfCall(item: Item, kind: CallKind, words: string): string {
    const text = this.writeCallWords(item, kind, words);
    if (item.areWordsDone) return text;
    item.areWordsDone = true;
    const place = { item_id: item.id, output_index: item.index };
    return text + this.#numbers.write(kind.wordsDone, { ...place, name: item.begun.name, [kind.words]: words });
  }
}

function logprobsOf({ hasLogprobs }: PartKind): Members {
  return hasLogprobs ? { logprobs: [] } : {};
}

/** Members that must not change while an item is open. */
export function identityOf({ begun, id, type }: Item): Members {
  return callKindOf(type) === undefined ? { id } : { id, call_id: begun.call_id };
}

/** An unfinished item, with the content that was sent. */
export function itemSoFar(item: Item, status: string): Members {
  if (item.finished !== null) return item.finished;
  const call = callKindOf(item.type);
  return {
    ...item.begun,
    ...(item.begun.status !== undefined && { status }),
    ...(call !== undefined && { [call.words]: item.words }),
    ...(item.content.length > 0 && { content: item.content.map(({ kind, words }) => partOf(kind, words)) }),
    ...(item.summary.length > 0 && { summary: item.summary.map(({ kind, words }) => partOf(kind, words)) }),
  };
}

/** True if there is an item besides reasoning, and all items are finished. */
export function isWholeResponse(items: readonly Item[]): boolean {
  return items.some(({ type }) => type !== 'reasoning') && items.every(({ finished }) => finished !== null);
}
