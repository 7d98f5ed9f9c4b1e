import { tryParseExact } from '../../json/json.ts';
import { isObject } from '../fields/members.ts';

/** Where the text of a part is, and the events that carry it. */
export interface PartKind {
  readonly type: string;
  readonly itemType: 'message' | 'reasoning';
  /** The member with the text. */
  readonly words: 'text' | 'refusal';
  /** The list of the item that holds the part. */
  readonly list: 'content' | 'summary';
  readonly indexName: 'content_index' | 'summary_index';
  readonly added: string;
  readonly delta: string;
  readonly wordsDone: string;
  readonly done: string;
  /** Whether the part and its events need a `logprobs` list. */
  readonly hasLogprobs: boolean;
}

const CONTENT = {
  list: 'content',
  indexName: 'content_index',
  added: 'response.content_part.added',
  done: 'response.content_part.done',
  hasLogprobs: false,
} as const;

export const OUTPUT_TEXT: PartKind = {
  ...CONTENT,
  type: 'output_text',
  itemType: 'message',
  words: 'text',
  delta: 'response.output_text.delta',
  wordsDone: 'response.output_text.done',
  hasLogprobs: true,
};

export const REFUSAL: PartKind = {
  ...CONTENT,
  type: 'refusal',
  itemType: 'message',
  words: 'refusal',
  delta: 'response.refusal.delta',
  wordsDone: 'response.refusal.done',
};

/** Raw reasoning text. */
const REASONING_TEXT: PartKind = {
  ...CONTENT,
  type: 'reasoning_text',
  itemType: 'reasoning',
  words: 'text',
  delta: 'response.reasoning_text.delta',
  wordsDone: 'response.reasoning_text.done',
};

export const SUMMARY_TEXT: PartKind = {
  type: 'summary_text',
  itemType: 'reasoning',
  words: 'text',
  list: 'summary',
  indexName: 'summary_index',
  added: 'response.reasoning_summary_part.added',
  delta: 'response.reasoning_summary_text.delta',
  wordsDone: 'response.reasoning_summary_text.done',
  done: 'response.reasoning_summary_part.done',
  hasLogprobs: false,
};

const PART_KINDS = [OUTPUT_TEXT, REFUSAL, REASONING_TEXT, SUMMARY_TEXT];

export function partKindOf(type: unknown): PartKind | undefined {
  return PART_KINDS.find((kind) => kind.type === type);
}

/** Items whose text is a string member, without parts. */
export interface CallKind {
  readonly type: string;
  readonly words: 'arguments' | 'input';
  readonly delta: string;
  readonly wordsDone: string;
}

export const FUNCTION_CALL: CallKind = {
  type: 'function_call',
  words: 'arguments',
  delta: 'response.function_call_arguments.delta',
  wordsDone: 'response.function_call_arguments.done',
};

export const CUSTOM_CALL: CallKind = {
  type: 'custom_tool_call',
  words: 'input',
  delta: 'response.custom_tool_call_input.delta',
  wordsDone: 'response.custom_tool_call_input.done',
};

const CALL_KINDS = [FUNCTION_CALL, CUSTOM_CALL];

/** A tool search that the client runs. Its arguments are an object, which comes whole with the item. */
export const SEARCH_CALL: CallKind = { type: 'tool_search_call', words: 'arguments', delta: '', wordsDone: '' };

export function readSearchArguments(json: unknown): unknown {
  const value = typeof json === 'string' ? tryParseExact(json) : undefined;
  return isObject(value) ? value : {};
}

export function callKindOf(type: unknown): CallKind | undefined {
  return CALL_KINDS.find((kind) => kind.type === type);
}

/** What each event type does to the items of a response; other names of an event share its entry. */
export type EventRole =
  | { readonly act: 'begin' | 'end' | 'fail' | 'item-added' | 'item-done' | 'part-added' | 'part-done' | 'beside' }
  | { readonly act: 'words' | 'words-done'; readonly part: PartKind; readonly type: string }
  | { readonly act: 'words' | 'words-done'; readonly call: CallKind; readonly type: string };

const EVENT_ROLES = new Map<string, EventRole>([
  ['response.created', { act: 'begin' }],
  ['response.queued', { act: 'begin' }],
  ['response.in_progress', { act: 'begin' }],
  ['response.completed', { act: 'end' }],
  ['response.incomplete', { act: 'end' }],
  ['response.failed', { act: 'fail' }],
  ['error', { act: 'fail' }],
  ['response.output_item.added', { act: 'item-added' }],
  ['response.output_item.done', { act: 'item-done' }],
  ['response.output_text.annotation.added', { act: 'beside' }],
]);

for (const part of PART_KINDS) {
  EVENT_ROLES.set(part.added, { act: 'part-added' });
  EVENT_ROLES.set(part.done, { act: 'part-done' });
  EVENT_ROLES.set(part.delta, { act: 'words', part, type: part.delta });
  EVENT_ROLES.set(part.wordsDone, { act: 'words-done', part, type: part.wordsDone });
}
for (const call of CALL_KINDS) {
  EVENT_ROLES.set(call.delta, { act: 'words', call, type: call.delta });
  EVENT_ROLES.set(call.wordsDone, { act: 'words-done', call, type: call.wordsDone });
}
// Names of the open specification for raw reasoning text; the vendor's SDK does not know them.
EVENT_ROLES.set('response.reasoning.delta', EVENT_ROLES.get(REASONING_TEXT.delta)!);
EVENT_ROLES.set('response.reasoning.done', EVENT_ROLES.get(REASONING_TEXT.wordsDone)!);

/** Undefined for events that clients do not need; they are dropped, because the vendor's SDK throws on unknown names. */
export function eventRole(type: unknown): EventRole | undefined {
  return typeof type === 'string' ? EVENT_ROLES.get(type) : undefined;
}
