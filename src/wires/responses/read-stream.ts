import type { CanonicalEvent, EventSink, FinishReason } from '../../canonical/events.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { WaitingRoom } from '../frames/waiting-text.ts';
import type { StreamReader } from '../hub.ts';
import { type UsageRule, usageRule } from '../usage/inclusive-usage.ts';
import { exactEvent } from './complete-item.ts';
import { reasoningVendor } from './encrypted-reasoning.ts';
import { readStreamError } from './errors.ts';
import { callKindOf, type EventRole, eventRole } from './item-kinds.ts';
import { findItem, matchItems } from './match-output.ts';
import { ItemReader } from './read-output.ts';
import { readTwoLineFrame } from './two-line-frame.ts';
import { readUsage } from './usage.ts';

/**
 * Reads a host's events into common events. A host may interleave items, but here they are emitted one after another:
 * while one is open, the events of the next ones wait.
 */
export class ResponseReader implements StreamReader {
  readonly #emit: EventSink;
  readonly #usageRule: UsageRule;
  readonly #vendor: string;
  readonly #items: ItemReader[] = [];
  readonly #room = new WaitingRoom();
  /** How many items have been emitted completely. */
  #emitted = 0;
  #started = false;
  #over = false;

  constructor(quirks: HostQuirks, emit: EventSink) {
    this.#emit = emit;
    this.#usageRule = usageRule(quirks);
    this.#vendor = reasoningVendor(quirks);
  }

  frame(frame: SseFrame): void {
    if (this.#over) return;
    const { data } = readTwoLineFrame(frame) ?? frame;
    if (data === null || data.startsWith('[DONE]')) return;
    const event = exactEvent(tryParseJson(data), data);
    if (!isObject(event)) {
      if (data.trim() !== '') this.#fail('the host sent an event that is not a JSON object');
      return;
    }
    const role = eventRole(event.type ?? frame.event);
    if (role !== undefined) this.#read(event, role);
    else if (!isAbsent(event.error)) this.#fail(event);
  }

  /** Without a last event, the response is complete if it has an item besides reasoning and all items are finished. */
  end(): void {
    if (this.#over) return;
    const isWhole = this.#items.some(({ type }) => type !== 'reasoning') && this.#emitted === this.#items.length;
    if (isWhole) this.#finish(null, null);
  }

  /** Reads a buffered response. */
  answer(response: Members): void {
    this.#begin(response);
    this.#end(response);
  }

  #read(event: Members, role: EventRole): void {
    const response = isObject(event.response) ? event.response : {};
    switch (role.act) {
      case 'begin':
        this.#begin(response);
        break;
      case 'end':
        this.#begin(response);
        this.#end(response);
        break;
      case 'fail':
        this.#noteUsage(response);
        this.#fail(response.error ?? event);
        break;
      case 'item-added':
        this.#itemFor(event);
        break;
      case 'item-done':
        this.#finishedBy(event).finish(isObject(event.item) ? event.item : {});
        this.#openNext();
        break;
      case 'words':
      case 'words-done':
        this.#words(event, role);
        break;
      default:
    }
  }

  #begin({ id, created_at: createdS }: Members): void {
    if (this.#started) return;
    this.#started = true;
    this.#emit({
      kind: 'start',
      id: isText(id) ? id : null,
      createdS: Number.isSafeInteger(createdS) ? (createdS as number) : null,
    });
  }

  #words(event: Members, role: EventRole & { act: 'words' | 'words-done' }): void {
    const kind = 'part' in role ? role.part : role.call;
    const item = this.#itemFor(event, 'part' in role ? role.part.itemType : role.call.type);
    const words = role.act === 'words' ? event.delta : event[kind.words];
    const index = 'part' in role ? event[role.part.indexName] : 0;
    if (!isText(words)) return;
    if (role.act === 'words') item.addDelta(kind, index, words);
    else item.addWhole(kind, index, words);
  }

  /** The item of an event; it begins here if it was never added. */
  #itemFor(event: Members, type: unknown = null): ItemReader {
    this.#begin({});
    const item = isObject(event.item) ? event.item : { type, id: event.item_id };
    const isNew = event.type === 'response.output_item.added';
    const known = isNew ? undefined : findItem(this.#items, item.id, event.output_index);
    return known ?? this.#add(item, event.output_index);
  }

  /** The item that a done event ends; under a wrong id and index it is the first unfinished one of its type. */
  #finishedBy(event: Members): ItemReader {
    const { id, type } = isObject(event.item) ? event.item : {};
    const known = findItem(this.#items, id, event.output_index);
    const isCall = callKindOf(type) !== undefined;
    if (known !== undefined || isCall) return this.#itemFor(event);
    return this.#items.find((item) => item.type === type && !item.isFinished) ?? this.#itemFor(event);
  }

  #add(item: Members, hostIndex: unknown): ItemReader {
    if (this.#items.length >= LIMITS.outputItemsMax) throw new RangeError('the host sent too many output items');
    const added = new ItemReader(item, hostIndex, this.#vendor, this.#room);
    this.#items.push(added);
    if (this.#emitted === this.#items.length - 1) added.open(this.#emit);
    return added;
  }

  /** Emits the events of the next items whose predecessors have ended. */
  #openNext(): void {
    while (this.#items[this.#emitted]?.isFinished) this.#items[++this.#emitted]?.open(this.#emit);
  }

  #end(response: Members): void {
    const output = objectsIn(response.output);
    const known = matchItems(this.#items, output);
    output.forEach((item, index) => {
      (known[index] ?? this.#add(item, index)).finish(item);
      this.#openNext();
    });
    for (const item of this.#items) item.finish({});
    this.#openNext();
    this.#noteUsage(response);
    this.#finish(response.status, isObject(response.incomplete_details) ? response.incomplete_details.reason : null);
  }

  #noteUsage({ usage }: Members): void {
    if (!isAbsent(usage)) this.#emit({ kind: 'usage', reading: readUsage(usage, this.#usageRule) });
  }

  #finish(status: unknown, detail: unknown): void {
    this.#over = true;
    const reason = status === 'incomplete' ? readIncomplete(detail) : this.#completed();
    const raw = isText(detail) ? detail : isText(status) ? status : null;
    this.#emit({ kind: 'finish', reason, raw, stopSequence: null });
  }

  #completed(): FinishReason {
    return this.#items.some(({ type }) => type === 'function_call') ? 'tool_calls' : 'stop';
  }

  #fail(error: unknown): void {
    this.#over = true;
    this.#emit({ kind: 'error', error: readStreamError(error) } satisfies CanonicalEvent);
  }
}

function readIncomplete(detail: unknown): FinishReason {
  return detail === 'content_filter' ? 'content_filter' : 'length';
}

export function readStream(quirks: HostQuirks, emit: EventSink): StreamReader {
  return new ResponseReader(quirks, emit);
}
