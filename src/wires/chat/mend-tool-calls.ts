import { tryParseExact, tryParseJson } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { isObject, type Members, objectsIn, removeMembers } from '../fields/members.ts';

/** A tool call of the stream; its position in the list is the index that the client gets. */
export interface ToolCallState {
  /** The host's index; some hosts send 0 for every call, count from 1, or send none. */
  readonly hostIndex: number | null;
  readonly id: string;
  name: string;
  /** The first fragment was already complete. */
  readonly isWhole: boolean;
  /** A function call whose arguments have no text so far. */
  isEmpty: boolean;
}

export type MintId = (position: number) => string;

/** Gives every call one index, and its id and name in its first fragment only. */
export function mendToolCalls(delta: Members, known: ToolCallState[], mintId: MintId): boolean {
  const calls = delta.tool_calls;
  if (calls === undefined || calls === null) return false;
  const fragments = objectsIn(calls);
  let changed = !Array.isArray(calls) || fragments.length !== calls.length;
  if (changed) delta.tool_calls = fragments.length === 0 ? undefined : fragments;
  for (const fragment of fragments) changed = mendFragment(fragment, known, mintId) || changed;
  return changed;
}

function mendFragment(call: Members, known: ToolCallState[], mintId: MintId): boolean {
  let changed = mendArguments(call);
  const position = positionOf(call, known);
  const hostIndex = indexOf(call);
  if (call.index !== position) {
    call.index = position;
    changed = true;
  }
  const state = known[position];
  return (state === undefined ? beginCall(call, hostIndex, known, mintId) : continueCall(call, state)) || changed;
}

/** The call that a fragment belongs to: by its id, else by its index, else the last one. */
function positionOf(call: Members, known: readonly ToolCallState[]): number {
  const id = textOf(call.id);
  const hostIndex = indexOf(call);
  const sameId = id === '' ? -1 : known.findIndex((one) => one.id === id && !sharesItsId(call, hostIndex, one));
  if (sameId !== -1) return sameId;
  const last = hostIndex === null ? known.length - 1 : known.findLastIndex((one) => one.hostIndex === hostIndex);
  return last === -1 || beginsAnother(call, id, known[last]!) ? known.length : last;
}

/** Some hosts give several calls one id. Another whole call under another index is one of them, and no fragment. */
function sharesItsId(call: Members, hostIndex: number | null, before: ToolCallState): boolean {
  return before.isWhole && isWhole(call) && hostIndex !== null && hostIndex !== before.hostIndex;
}

/** Under a known index, a name begins another call, unless it only repeats the current one. */
function beginsAnother(call: Members, id: string, before: ToolCallState): boolean {
  const name = nameOf(call);
  if (name === '' || before.name === '') return false;
  return id !== '' || name !== before.name || before.isWhole;
}

function beginCall(call: Members, hostIndex: number | null, known: ToolCallState[], mintId: MintId): boolean {
  if (known.length >= LIMITS.toolCallsPerAnswerMax) {
    throw new RangeError('the host sent too many tool calls');
  }
  const given = textOf(call.id);
  const id = given === '' || known.some((one) => one.id === given) ? mintId(known.length) : given;
  const changed = completeCall(call, id);
  known.push({ hostIndex, id, name: nameOf(call), isWhole: isWhole(call), isEmpty: isEmptyCall(call) });
  return changed;
}

function isEmptyCall({ type, function: called }: Members): boolean {
  return type === 'function' && isObject(called) && called.arguments === '';
}

/** A call needs an id, a type, a name and arguments; in a stream, in its first fragment. */
export function completeCall(call: Members, id: string): boolean {
  let changed = mendArguments(call);
  const kind = isObject(call.custom) && call.type !== 'function' ? 'custom' : 'function';
  if (call.id !== id || call.type !== kind) {
    call.id = id;
    call.type = kind;
    changed = true;
  }
  const called = isObject(call[kind]) ? call[kind] : {};
  const content = kind === 'custom' ? 'input' : 'arguments';
  if (typeof called.name !== 'string' || typeof called[content] !== 'string' || call[kind] !== called) {
    call[kind] = { ...called, name: textOf(called.name), [content]: textOf(called[content]) };
    changed = true;
  }
  return changed;
}

function continueCall(call: Members, state: ToolCallState): boolean {
  let changed = removeMembers(call, ['id', 'type']);
  const called = calledOf(call);
  if (called === null) return changed;
  if (textOf(called.arguments) !== '') state.isEmpty = false;
  if (called.name === undefined) return changed;
  const name = textOf(called.name);
  if (state.name === '' && name !== '') state.name = name;
  else {
    called.name = undefined;
    changed = true;
  }
  return changed;
}

/** Fragments for the calls that end without arguments: clients parse the arguments, and an empty string is not JSON. */
export function missingArguments(known: readonly ToolCallState[]): (Members & { readonly function: Members })[] {
  return known.flatMap(({ isEmpty }, index) => (isEmpty ? [{ index, function: { arguments: '{}' } }] : []));
}

/** Parses a response or chunk again with every digit of its numbers, if it has arguments as objects, which become text. */
export function exactResponse(answer: unknown, json: string | Buffer): unknown {
  const choices = isObject(answer) ? objectsIn(answer.choices) : [];
  return choices.some(hasObjectArguments) ? tryParseExact(json.toString()) : answer;
}

function hasObjectArguments({ delta, message }: Members): boolean {
  const said = isObject(delta) ? delta : message;
  if (!isObject(said) || !Array.isArray(said.tool_calls)) return false;
  return objectsIn(said.tool_calls).some(({ function: called }) => isObject(called) && isObject(called.arguments));
}

/** Arguments are a JSON string on this wire; some hosts send the object. */
function mendArguments(call: Members): boolean {
  const called = call.function;
  if (!isObject(called) || typeof called.arguments === 'string' || called.arguments === undefined) return false;
  called.arguments = called.arguments === null ? '' : JSON.stringify(called.arguments);
  return true;
}

function isWhole(call: Members): boolean {
  const args = calledOf(call)?.arguments;
  return typeof args === 'string' && args.endsWith('}') && tryParseJson(args) !== undefined;
}

function indexOf({ index }: Members): number | null {
  return Number.isSafeInteger(index) && (index as number) >= 0 ? (index as number) : null;
}

function nameOf(call: Members): string {
  return textOf(calledOf(call)?.name);
}

function calledOf(call: Members): Members | null {
  const called = call.function ?? call.custom;
  return isObject(called) ? called : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
