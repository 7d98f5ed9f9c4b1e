import type { GatewayError } from '../../canonical/errors.ts';
import type { BlockHead, CanonicalEvent, FinishEvent } from '../../canonical/events.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import type { Bill } from '../bill.ts';
import { InputUnwrapper } from '../fields/custom-input.ts';
import { isObject, type Members } from '../fields/members.ts';
import type { StreamWriter, WriteTerms } from '../hub.ts';
import { mintItemId, partOf } from './complete-item.ts';
import { writeOpaque } from './encrypted-reasoning.ts';
import { writeFailure } from './errors.ts';
import { EventNumbers } from './event-numbers.ts';
import {
  type CallKind,
  CUSTOM_CALL,
  FUNCTION_CALL,
  OUTPUT_TEXT,
  type PartKind,
  REFUSAL,
  readSearchArguments,
  SEARCH_CALL,
  SUMMARY_TEXT,
} from './item-kinds.ts';
import { begunResponse, completedAt, endingOf, idStem } from './response-object.ts';
import { type CallersTool, offeredTools, ToolNames } from './tool-names.ts';
import { writeUsage } from './usage.ts';

/** The open block: how its events are written, and its text so far. */
interface Words {
  readonly kind: PartKind | CallKind;
  readonly index: number;
  /** The event before and after its text, up to its number: only text and number change. */
  readonly beforeDelta: string;
  readonly afterDelta: string;
  /** For a custom tool, which hosts of other wires call as a function. */
  readonly unwrapper: InputUnwrapper | null;
  text: string;
}

/** Writes events as a stream of this wire, and builds the response object for the last event. */
export class ResponseWriter implements StreamWriter {
  readonly #begun: Members;
  readonly #names: ToolNames;
  readonly #idStem: string;
  readonly #nowS: () => number;
  readonly #numbers = new EventNumbers();
  readonly #output: Members[] = [];
  /** The last item while it may still grow; its end is written when the next event shows how it ended. */
  #item: Members | null = null;
  #words: Words | null = null;
  #ending: Members = { status: 'completed' };
  #hasOpened = false;

  constructor(terms: WriteTerms) {
    this.#begun = begunResponse(terms);
    this.#names = new ToolNames(isObject(terms.request) ? offeredTools(terms.request) : []);
    this.#idStem = idStem(terms.requestId);
    this.#nowS = () => terms.nowS();
  }

  event(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'block-delta':
        return this.#writeText(event.text);
      case 'block-start':
        return this.#open() + this.#startBlock(event.block);
      case 'block-end':
        return this.#endBlock(event.opaque);
      case 'finish':
        return this.#open() + this.#finish(event);
      default:
        // The first events wait for content: until then a failure can be an HTTP error.
        return '';
    }
  }

  closing({ usage }: Bill): string {
    const response = { ...this.response(), usage: writeUsage(usage, null) };
    return this.#numbers.write(`response.${this.#ending.status}`, { response });
  }

  /** The frames that end the client's stream after a failure. */
  failure(error: GatewayError): string {
    return this.#open() + writeFailure(error, this.#numbers, { ...this.#begun, output: this.#output });
  }

  /** The response so far, without usage. */
  response(): Members {
    return { ...this.#begun, ...this.#ending, output: this.#output };
  }

  #open(): string {
    if (this.#hasOpened) return '';
    this.#hasOpened = true;
    const response = this.#begun;
    return (
      this.#numbers.write('response.created', { response }) + this.#numbers.write('response.in_progress', { response })
    );
  }

  #startBlock(head: BlockHead): string {
    switch (head.kind) {
      case 'text':
        return this.#startPart(OUTPUT_TEXT);
      case 'refusal':
        return this.#startPart(REFUSAL);
      case 'reasoning':
        return this.#addItem('reasoning', { summary: [] });
      case 'tool-call':
        return this.#startCall(head.id, head.name);
    }
  }

  /** Calls have the names and kinds that the caller's tools have. */
  #startCall(callId: string, flatName: string): string {
    const tool = this.#names.find(flatName) ?? { namespace: null, name: flatName, kind: 'function' };
    const kind = CALL_KINDS[tool.kind];
    const added = this.#addItem(kind.type, { status: 'in_progress', call_id: callId, ...begunCall(tool) });
    this.#words = this.#wordsOf(kind, 0);
    return added;
  }

  /** Text after text is another part of the same message. */
  #startPart(kind: PartKind): string {
    const added = this.#item?.type === 'message' ? '' : this.#addItem('message', MESSAGE);
    return added + this.#addPart(kind);
  }

  #addItem(type: string, members: Members): string {
    const ended = this.#endItem('completed');
    const item = { id: mintItemId(type, this.#idStem, this.#output.length), type, ...members };
    this.#item = item;
    this.#output.push(item);
    return ended + this.#numbers.write('response.output_item.added', { ...this.#place(), item });
  }

  #addPart(kind: PartKind): string {
    const index = (this.#item![kind.list] as unknown[]).length;
    this.#words = this.#wordsOf(kind, index);
    const place = { item_id: this.#item!.id, ...this.#place(), [kind.indexName]: index };
    return this.#numbers.write(kind.added, { ...place, part: partOf(kind, '') });
  }

  #place(): { output_index: number } {
    return { output_index: this.#output.length - 1 };
  }

  #wordsOf(kind: Words['kind'], index: number): Words {
    const place = { item_id: this.#item!.id, ...this.#place() };
    const head = { type: kind.delta, ...place, ...('indexName' in kind && { [kind.indexName]: index }) };
    return {
      kind,
      index,
      beforeDelta: `event: ${kind.delta}\ndata: ${JSON.stringify(head).slice(0, -1)},"delta":`,
      afterDelta: `,${'list' in kind && kind.hasLogprobs ? '"logprobs":[],' : ''}"sequence_number":`,
      unwrapper: kind === CUSTOM_CALL ? new InputUnwrapper() : null,
      text: '',
    };
  }

  #writeText(text: string): string {
    const unwrapper = this.#words?.unwrapper ?? null;
    if (unwrapper === null) return this.#writeWords(text);
    const input = unwrapper.add(text);
    return input === '' ? '' : this.#writeWords(input);
  }

  #writeWords(text: string): string {
    // Reasoning without text has no summary, so the part begins with its first text.
    const added = this.#words === null ? this.#addPart(SUMMARY_TEXT) : '';
    const words = this.#words!;
    words.text += text;
    if (words.kind === SEARCH_CALL) return added;
    return `${added}${words.beforeDelta}${JSON.stringify(text)}${words.afterDelta}${this.#numbers.next++}}\n\n`;
  }

  #endBlock(opaque: OpaqueReasoning | null): string {
    const item = this.#item!;
    const rest = this.#restOf(this.#words);
    const written = rest === '' ? '' : this.#writeWords(rest);
    const words = this.#words;
    this.#words = null;
    if (item.type === 'reasoning' && opaque !== null) item.encrypted_content = writeOpaque(opaque);
    return words === null ? '' : written + this.#endWords(item, words);
  }

  /** Text that is known only at the end of its block. */
  #restOf(words: Words | null): string {
    if (words === null) return '';
    if (words.unwrapper !== null) return words.unwrapper.end();
    // Clients parse the arguments, and an empty string is not JSON.
    return words.kind === FUNCTION_CALL && words.text === '' ? '{}' : '';
  }

  #endWords(item: Members, { kind, index, text }: Words): string {
    const place = { item_id: item.id, ...this.#place() };
    if (!('list' in kind)) {
      item[kind.words] = kind === SEARCH_CALL ? readSearchArguments(text) : text;
      if (kind === SEARCH_CALL) return '';
      return this.#numbers.write(kind.wordsDone, { ...place, name: item.name, [kind.words]: text });
    }
    const part = partOf(kind, text);
    item[kind.list] = [...(item[kind.list] as Members[]), part];
    const at = { ...place, [kind.indexName]: index };
    const logprobs = kind.hasLogprobs ? { logprobs: [] } : {};
    return (
      this.#numbers.write(kind.wordsDone, { ...at, [kind.words]: text, ...logprobs }) +
      this.#numbers.write(kind.done, { ...at, part })
    );
  }

  #finish(finish: FinishEvent): string {
    const ending = endingOf(finish);
    this.#ending = { ...ending, completed_at: completedAt({ ...this.#begun, ...ending }, this.#nowS()) };
    return this.#endItem(this.#ending.status as string);
  }

  #endItem(status: string): string {
    const item = this.#item;
    if (item === null) return '';
    this.#item = null;
    if (item.status !== undefined) item.status = status;
    return this.#numbers.write('response.output_item.done', { ...this.#place(), item });
  }
}

const CALL_KINDS = { function: FUNCTION_CALL, custom: CUSTOM_CALL, search: SEARCH_CALL } as const;

function begunCall({ kind, name, namespace }: CallersTool): Members {
  if (kind === 'search') return { execution: 'client', arguments: {} };
  return { [CALL_KINDS[kind].words]: '', name, ...(namespace !== null && { namespace }) };
}

const MESSAGE: Members = { status: 'in_progress', content: [], role: 'assistant' };

export function writeStream(terms: WriteTerms): StreamWriter {
  return new ResponseWriter(terms);
}
