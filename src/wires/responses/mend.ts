import { tryParseJson } from '../../json/json.ts';
import { heapBytesOfJson } from '../../json/weight.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import type { Bill } from '../bill.ts';
import { contentBytes } from '../fields/extra-bytes.ts';
import { isAbsent, isObject, type Members, objectsIn } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import {
  callWords,
  completeItem,
  completePart,
  exactEvent,
  fillArguments,
  partOf,
  removeReasoningText,
  setMembers,
} from './complete-item.ts';
import { wrapEncrypted } from './encrypted-reasoning.ts';
import { eventText } from './event-numbers.ts';
import { encryptedBytes, foreignItemBytes, nameBytes } from './item-bytes.ts';
import {
  type CallKind,
  callKindOf,
  type EventRole,
  eventRole,
  FUNCTION_CALL,
  type PartKind,
  partKindOf,
} from './item-kinds.ts';
import { hasEnded, matchItems } from './match-output.ts';
import { type Item, identityOf, isWholeResponse, itemSoFar, OutputItems, type Part } from './output-items.ts';
import { idStem } from './response-object.ts';
import { CallRestorer } from './restore-calls.ts';
import { StreamState } from './stream-state.ts';
import { readTwoLineFrame, type TwoLineFrame } from './two-line-frame.ts';

/**
 * Repairs every event: its name and number, the identity of its item, missing members; and adds missing events that
 * clients need. An event that needs no repair is passed on byte for byte. Never throws.
 */
class MendedStream extends StreamState implements StreamRelay {
  readonly #items: OutputItems;
  readonly #calls: CallRestorer | null;
  /** Events that must be sent before the current one. */
  #before = '';
  /** The JSON of the items that are kept for the last event. */
  #keptJsonBytes = 0;
  #itemBytes = 0;

  constructor(terms: RelayTerms) {
    super(terms);
    this.#items = new OutputItems(this.numbers, idStem(terms.requestId));
    this.#calls = CallRestorer.for(terms.request, terms.quirks);
  }

  /** The items, and their text, which the last event repeats. */
  get keptBytes(): number {
    return this.#itemBytes + this.relayedBytes;
  }

  override get mayEndHere(): boolean {
    return isWholeResponse(this.#items.all);
  }

  override closing(bill: Bill): string {
    return this.takeOpening() + this.#finishOpenItems() + super.closing(bill);
  }

  frame(frame: SseFrame): Buffer | string | null {
    if (this.terminal) return null;
    try {
      return this.#read(frame, readTwoLineFrame(frame));
    } catch (error) {
      return this.fail((error as Error).message);
    }
  }

  #read(frame: SseFrame, plain: TwoLineFrame | null): Buffer | string | null {
    const { data } = plain ?? frame;
    if (data === null) return null;
    if (data.startsWith('[DONE]')) return this.#done();
    const event = exactEvent(tryParseJson(data), data);
    if (!isObject(event))
      return data.trim() === '' ? null : this.fail('the host sent an event that is not a JSON object');
    event.type ??= plain?.name ?? frame.event;
    const restored = this.#calls?.event(event) ?? 'same';
    if (restored === 'withheld') return null;
    const { type } = event;
    const role = eventRole(type);
    if (role === undefined) return isAbsent(event.error) ? null : this.fail(event);
    switch (role.act) {
      case 'begin':
        return this.open(type as string, event);
      case 'end':
        return this.#end(event);
      case 'fail':
        return isObject(event.response) ? this.fail(event.response.error, event.response) : this.fail(event);
      default: {
        const isChanged = restored === 'changed';
        const json = isChanged ? JSON.stringify(event) : data;
        if (role.act === 'item-added' || role.act === 'item-done')
          this.#keep(isChanged ? Buffer.from(json) : frame.raw);
        return this.#relay(event, role, !isChanged && plain?.name === type ? frame.raw : null, json);
      }
    }
  }

  #done(): null {
    if (!this.#items.all.some(({ type }) => type !== 'reasoning')) {
      return this.fail('the host ended its stream without a response');
    }
    this.terminal = true;
    return null;
  }

  /** Items that only the last event has are content: their events are sent at once. */
  #end(event: Members): string | null {
    const output = isObject(event.response) ? objectsIn(event.response.output) : [];
    this.end(event);
    const opening = output.length > 0 ? this.takeOpening() : '';
    const known = matchItems(this.#items.all, output);
    const text = opening + output.map((finished, index) => this.#finish(finished, index, known[index])).join('');
    this.#countWords();
    return text === '' ? null : text;
  }

  /** Uses the last event's version of an item in the client's last event. */
  #finish(finished: Members, index: number, item: Item | undefined): string {
    this.#mendFinished(finished, item);
    if (item === undefined) return this.#items.writeWhole(finished, index);
    if (item.type !== finished.type) return '';
    item.lastVersion = finished;
    if (item.finished !== null) return '';
    return this.#items.writeRest(item, finished) + this.#items.writeDone(item, finished);
  }

  /** Ends items that the host left unfinished, with the content that was sent. */
  #finishOpenItems(): string {
    let text = '';
    for (const item of this.#items.all) {
      if (item.finished !== null) continue;
      const finished = itemSoFar(item, this.endedStatus);
      fillArguments(finished);
      text += this.#items.writeRest(item, finished) + this.#items.writeDone(item, finished);
    }
    return text;
  }

  protected override output(): unknown[] {
    return this.#items.all.map((item) => itemSoFar(item, 'incomplete'));
  }

  /** The items that were sent to the client, in that order, whatever the host's last event has. */
  protected override endedOutput(): unknown[] {
    return this.#items.all.map((item) => item.lastVersion ?? itemSoFar(item, this.endedStatus));
  }

  /** Completes a finished item; it keeps the id it began with. */
  #mendFinished(finished: Members, item: Item | undefined): boolean {
    const isWrapped = wrapEncrypted(finished, this.terms.quirks);
    const isHidden = this.terms.hideReasoning && removeReasoningText(finished);
    const isCompleted = completeItem(finished, 'completed');
    const isSame = item?.type === finished.type;
    const words = isSame ? item!.words : '';
    // The end of the response may say what the call does not: that the output limit cut it off.
    const isFilled = (words !== '' || this.endedStatus === 'completed') && fillArguments(finished, words);
    const isRenamed = isSame && setMembers(finished, identityOf(item!));
    return isWrapped || isHidden || isCompleted || isFilled || isRenamed;
  }

  /** `raw` is the frame to pass on if nothing is wrong with it. */
  #relay(event: Members, role: EventRole, raw: Buffer | null, data: string): Buffer | string | null {
    const opening = this.takeOpening();
    this.#before = '';
    const mended = this.#mend(event, role);
    this.#countWords();
    const before = opening + this.#before;
    if (mended === 'withheld') return before === '' ? null : before;
    const type = 'type' in role ? role.type : (event.type as string);
    const isRight = !this.#number(event, type) && mended === 'right';
    if (isRight && raw !== null && before === '') return raw;
    const json = isRight && !data.includes('\n') ? data : JSON.stringify(event);
    return before + eventText(type, json);
  }

  #keep(item: Buffer): void {
    this.#keptJsonBytes += item.length;
    this.#itemBytes += heapBytesOfJson(item);
    if (this.#keptJsonBytes > LIMITS.responseBodyBytesMax) throw new RangeError("the host's response is too large");
  }

  #number(event: Members, type: string): boolean {
    const number = this.numbers.next++;
    if (event.sequence_number === number && event.type === type) return false;
    event.sequence_number = number;
    event.type = type;
    return true;
  }

  #countWords(): void {
    this.relayedBytes += this.#items.wordBytes;
    this.#items.wordBytes = 0;
  }

  #mend(event: Members, role: EventRole): Mended {
    if (role.act === 'item-added') return this.#mendAdded(event);
    if (role.act === 'item-done') return this.#mendDone(event);
    const item = this.#items.find(event.item_id ?? (event.item as Members | undefined)?.id, event.output_index);
    const kind = 'part' in role ? role.part : partKindOf((event.part as Members | undefined)?.type);
    const known = item ?? this.#begin(role, kind, event);
    if (known === undefined || known.finished !== null || (this.terms.hideReasoning && known.type === 'reasoning'))
      return 'withheld';
    const isMoved = this.#place(event, known);
    const mended = this.#mendInside(event, role, known, kind);
    return isMoved && mended === 'right' ? 'changed' : mended;
  }

  #place(event: Members, { id, index }: Item): boolean {
    if (event.item_id === id && event.output_index === index) return false;
    event.item_id = id;
    event.output_index = index;
    return true;
  }

  #mendInside(event: Members, role: EventRole, item: Item, kind: PartKind | undefined): Mended {
    if (role.act === 'beside') {
      this.relayedBytes += contentBytes(event.annotation);
      return 'right';
    }
    if ('call' in role) return this.#mendCall(event, role.act, role.call, item);
    return kind?.itemType === item.type ? this.#mendPart(event, role, kind!, item) : 'withheld';
  }

  /** Begins an item that the host did not begin; a call needs its name first, so it waits for its end. */
  #begin(role: EventRole, kind: PartKind | undefined, event: Members): Item | undefined {
    if ('call' in role || kind === undefined) return undefined;
    const { item } = this.#items.add({ type: kind.itemType, id: event.item_id }, event.output_index);
    this.#before += this.#items.writeAdded(item);
    return item;
  }

  #mendAdded(event: Members): Mended {
    if (!isObject(event.item)) return 'withheld';
    this.relayedBytes += nameBytes(event.item) + foreignItemBytes(event.item);
    const isWrapped = wrapEncrypted(event.item, this.terms.quirks);
    const { item, changed } = this.#items.add(event.item, event.output_index);
    return setMembers(event, { output_index: item.index }) || changed || isWrapped ? 'changed' : 'right';
  }

  #mendDone(event: Members): Mended {
    const finished = event.item;
    const item = isObject(finished) ? this.#items.findFinished(finished, event.output_index) : undefined;
    if (!isObject(finished) || (item !== undefined && item.finished !== null)) return 'withheld';
    const isMended = this.#mendFinished(finished, item);
    if (item?.type !== finished.type) {
      this.#before += this.#items.writeWhole(finished, event.output_index);
      return 'withheld';
    }
    this.relayedBytes += encryptedBytes(finished) + foreignItemBytes(finished);
    this.#before += this.#items.writeRest(item!, finished);
    item!.finished = finished;
    return setMembers(event, { output_index: item!.index }) || isMended ? 'changed' : 'right';
  }

  #mendCall(event: Members, act: string, kind: CallKind, item: Item): Mended {
    if (callKindOf(item.type) !== kind) return 'withheld';
    if (act === 'words') {
      if (typeof event.delta !== 'string') return 'withheld';
      item.words += event.delta;
      this.relayedBytes += Buffer.byteLength(event.delta);
      return 'right';
    }
    if (item.areWordsDone) return 'withheld';
    const given = event[kind.words];
    const words = isAbsent(given) ? item.words : callWords(given);
    // Without arguments the event waits for the end of the item, which says whether the call is complete.
    if (words === '' && kind === FUNCTION_CALL) return 'withheld';
    this.#before += this.#items.writeCallWords(item, kind, words);
    item.areWordsDone = true;
    return setMembers(event, { [kind.words]: words, name: item.begun.name }) ? 'changed' : 'right';
  }

  #mendPart(event: Members, role: EventRole, kind: PartKind, item: Item): Mended {
    if (role.act === 'part-added') return this.#mendPartAdded(event, kind, item);
    const { part, written } = this.#items.part(item, kind, event[kind.indexName], role.act);
    if (hasEnded(part, role.act)) return 'withheld';
    this.#before += written;
    let changed = mendPlaceInItem(event, role, part);
    if (role.act === 'words') {
      if (typeof event.delta !== 'string') return 'withheld';
      part.words += event.delta;
      this.relayedBytes += Buffer.byteLength(event.delta);
    } else if (role.act === 'words-done') {
      this.#before += this.#items.writeWords(item, part, event[kind.words]);
      part.areWordsDone = true;
      changed = setMembers(event, { [kind.words]: event[kind.words] ?? part.words }) || changed;
    } else {
      if (!part.areWordsDone) this.#before += this.#items.writeWords(item, part, wordsOf(event.part, kind));
      part.isDone = true;
      changed = this.#mendPartObject(event, kind, part.words) || changed;
    }
    return changed ? 'changed' : 'right';
  }

  #mendPartAdded(event: Members, kind: PartKind, item: Item): Mended {
    const at = event[kind.indexName];
    const isOpen = (part: Part): boolean => part.kind === kind && part.hostIndex === at && !hasEnded(part, 'words');
    if (at !== undefined && item[kind.list].some(isOpen)) return 'withheld';
    const part = this.#items.newPart(item, kind, at);
    const isMoved = setMembers(event, { [kind.indexName]: part.index });
    return this.#mendPartObject(event, kind, '') || isMoved ? 'changed' : 'right';
  }

  #mendPartObject(event: Members, kind: PartKind, words: string): boolean {
    if (!isObject(event.part)) return setMembers(event, { part: partOf(kind, words) });
    return completePart(event.part);
  }
}

/** The result for an event: unchanged, repaired, or withheld from the client. */
type Mended = 'right' | 'changed' | 'withheld';

function mendPlaceInItem(event: Members, { act }: EventRole, { kind, index }: Part): boolean {
  const isMoved = event[kind.indexName] !== index;
  if (isMoved) event[kind.indexName] = index;
  if (!kind.hasLogprobs || act === 'part-done' || !isAbsent(event.logprobs)) return isMoved;
  event.logprobs = [];
  return true;
}

function wordsOf(part: unknown, { words }: PartKind): unknown {
  return isObject(part) ? part[words] : null;
}

export function mendStream(terms: RelayTerms): StreamRelay {
  return new MendedStream(terms);
}
