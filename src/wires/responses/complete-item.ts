import { tryParseExact } from '../../json/json.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { callKindOf, FUNCTION_CALL, type PartKind } from './item-kinds.ts';

/** The id prefix of each item type; unknown types get a neutral one. */
const ID_PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['custom_tool_call', 'ctc'],
  ['tool_search_call', 'tsc'],
]);

export function mintItemId(type: unknown, stem: string, index: number): string {
  return `${ID_PREFIXES.get(type) ?? 'item'}_${stem}_${index}`;
}

/** Sets members that differ; true if any did. */
export function setMembers(holder: Members, members: Members): boolean {
  let changed = false;
  for (const name of Object.keys(members)) {
    if (holder[name] === members[name]) continue;
    holder[name] = members[name];
    changed = true;
  }
  return changed;
}

/** Adds the missing members of a part. */
export function completePart(part: Members): boolean {
  if (part.type !== 'output_text') return false;
  return setMembers(part, {
    text: typeof part.text === 'string' ? part.text : '',
    annotations: part.annotations ?? [],
    logprobs: part.logprobs ?? [],
  });
}

export function partOf(kind: PartKind, words: string): Members {
  const part = { type: kind.type, [kind.words]: words };
  return kind.hasLogprobs ? { ...part, annotations: [], logprobs: [] } : part;
}

/** Adds the missing members of an item, whether it has begun or finished. */
export function completeItem(item: Members, status: string): boolean {
  let changed = false;
  for (const part of objectsIn(item.content)) changed = completePart(part) || changed;
  if (item.type === 'reasoning') return setMembers(item, { summary: item.summary ?? [] }) || changed;
  const call = callKindOf(item.type);
  const body = call === undefined ? messageBody(item) : { [call.words]: callWords(item[call.words]) };
  return setMembers(item, { status: item.status ?? status, ...body }) || changed;
}

function messageBody(item: Members): Members {
  if (item.type !== 'message') return {};
  return { role: 'assistant', content: Array.isArray(item.content) ? item.content : [] };
}

/** Arguments are a JSON string on this wire; some hosts send the object. */
export function callWords(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Clients parse the arguments of a completed call, and an empty string is not JSON. `words` is what was sent of them. */
export function fillArguments(item: Members, words = ''): boolean {
  if (item.type !== FUNCTION_CALL.type || item.status !== 'completed' || item.arguments !== '') return false;
  return setMembers(item, { arguments: words === '' ? '{}' : words });
}

/** A parsed event or response of a host; with every digit of its numbers if it has arguments that are written again. */
export function exactEvent(event: unknown, json: string): unknown {
  return isObject(event) && hasObjectArguments(event) ? tryParseExact(json) : event;
}

function hasObjectArguments(event: Members): boolean {
  const { item, response, output } = event;
  const items = isObject(response) ? response.output : output;
  return isObjectCall(event) || isObjectCall(item) || (Array.isArray(items) && items.some(isObjectCall));
}

function isObjectCall(call: unknown): boolean {
  return isObject(call) && isObject(call.arguments);
}

/** The item as it begins, without its content. */
export function emptyItem(item: Members): boolean {
  let changed = completeItem(item, 'in_progress');
  const call = callKindOf(item.type);
  if (call !== undefined) changed = setMembers(item, { [call.words]: '' }) || changed;
  if (item.status !== undefined) changed = setMembers(item, { status: 'in_progress' }) || changed;
  for (const list of ['content', 'summary']) {
    if (!Array.isArray(item[list]) || item[list].length === 0) continue;
    item[list] = [];
    changed = true;
  }
  return changed;
}

/** Without a call id the caller could not send the result. */
export function identifyItem(item: Members, stem: string, index: number): boolean {
  let changed = false;
  if (!isText(item.id)) changed = setMembers(item, { id: mintItemId(item.type, stem, index) });
  if (callKindOf(item.type) === undefined || isText(item.call_id)) return changed;
  return setMembers(item, { call_id: `call_${stem}_${index}` });
}

/** Removes the text of a reasoning item; the encrypted part stays, because the next turn needs it. */
export function removeReasoningText(item: Members): boolean {
  if (item.type !== 'reasoning') return false;
  const hidden = Array.isArray(item.summary) && item.summary.length > 0 ? setMembers(item, { summary: [] }) : false;
  return Array.isArray(item.content) && item.content.length > 0 ? setMembers(item, { content: [] }) : hidden;
}
