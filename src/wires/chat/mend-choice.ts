import { isObject } from './fields.ts';

type Member = Record<string, unknown>;

/** What one answer of the stream has shown so far. */
export interface ChoiceState {
  roleSent: boolean;
  finished: boolean;
  /** Identity of the tool calls seen, by the index the client knows them by. */
  readonly toolIds: string[];
}

export function newChoice(): ChoiceState {
  return { roleSent: false, finished: false, toolIds: [] };
}

/** Puts one choice of a chunk right, in place; true if anything changed. */
export function mendChoice(
  choice: Member,
  state: ChoiceState,
  mintId: (index: number) => string,
  hideReasoning: boolean,
): boolean {
  let changed = false;
  if (!isObject(choice.delta)) {
    choice.delta = {};
    changed = true;
  }
  if (choice.message !== undefined) {
    delete choice.message;
    changed = true;
  }
  const delta = choice.delta as Member;
  if (Array.isArray(delta.content)) changed = splitContent(delta, delta.content);
  changed = mendReasoning(delta, hideReasoning) || changed;
  changed = mendToolCalls(delta, state, mintId) || changed;
  changed = mendRole(delta, state) || changed;
  return mendFinish(choice, state) || changed;
}

function mendRole(delta: Member, state: ChoiceState): boolean {
  const had = state.roleSent;
  state.roleSent = true;
  if (had || typeof delta.role === 'string') return false;
  delta.role = 'assistant';
  return true;
}

/** Once per choice; a stop after tool calls is a call for tools, whatever the host named it. */
function mendFinish(choice: Member, state: ChoiceState): boolean {
  const reason = choice.finish_reason;
  if (reason === undefined || reason === '') {
    choice.finish_reason = null;
    return true;
  }
  if (reason === null) return false;
  if (state.finished) {
    choice.finish_reason = null;
    return true;
  }
  state.finished = true;
  if (reason !== 'stop' || state.toolIds.length === 0) return false;
  choice.finish_reason = 'tool_calls';
  return true;
}

/** Content as a list of parts becomes text and reasoning, the two strings clients look for. */
export function splitContent(holder: Member, parts: readonly unknown[]): true {
  let text = '';
  let reasoning = '';
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (part.type === 'thinking') reasoning += textOf(part.thinking);
    else text += textOf(part.text);
  }
  holder.content = text;
  if (reasoning !== '') holder.reasoning = reasoning;
  return true;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

const REASONING_MEMBERS = ['reasoning', 'reasoning_content', 'reasoning_details'];

/** A trace stands under both names, since clients look for either. */
export function mendReasoning(holder: Member, hide: boolean): boolean {
  if (hide) return removeMembers(holder, REASONING_MEMBERS);
  const reasoning = holder.reasoning;
  const content = holder.reasoning_content;
  if (typeof reasoning === 'string') {
    if (typeof content === 'string') return false;
    holder.reasoning_content = reasoning;
    return true;
  }
  const trace = typeof content === 'string' ? content : traceOf(holder.reasoning_details);
  if (trace === null) return false;
  holder.reasoning = trace;
  holder.reasoning_content = trace;
  return true;
}

function traceOf(details: unknown): string | null {
  if (!Array.isArray(details)) return null;
  const traces = details.filter(
    (one) => isObject(one) && one.type === 'reasoning.text' && typeof one.text === 'string',
  );
  return traces.length === 0 ? null : traces.map((one) => (one as Member).text as string).join('');
}

export function removeMembers(holder: Member, names: readonly string[]): boolean {
  let removed = false;
  for (const name of names) {
    if (holder[name] === undefined) continue;
    delete holder[name];
    removed = true;
  }
  return removed;
}

function mendToolCalls(delta: Member, state: ChoiceState, mintId: (index: number) => string): boolean {
  const calls = delta.tool_calls;
  if (!Array.isArray(calls)) return false;
  let changed = false;
  for (const call of calls) {
    if (isObject(call)) changed = mendToolCall(call, state, mintId) || changed;
  }
  return changed;
}

/** Identity stands in the first fragment of an index only; later fragments carry nothing but arguments. */
function mendToolCall(call: Member, state: ChoiceState, mintId: (index: number) => string): boolean {
  let changed = mendArguments(call);
  const index = indexOf(call, state);
  if (call.index !== index) {
    call.index = index;
    changed = true;
  }
  if (index < state.toolIds.length) return removeIdentity(call) || changed;
  if (typeof call.id !== 'string' || call.id === '') {
    call.id = mintId(index);
    changed = true;
  }
  if (typeof call.type !== 'string') {
    call.type = 'function';
    changed = true;
  }
  state.toolIds.push(call.id as string);
  return changed;
}

/** Hosts leave the index out, or give every whole call the index 0: a new id then means a new call. */
function indexOf(call: Member, state: ChoiceState): number {
  const known = state.toolIds.length;
  const index = call.index;
  const id = typeof call.id === 'string' && call.id !== '' ? call.id : null;
  const given = Number.isSafeInteger(index) && (index as number) >= 0 ? (index as number) : null;
  if (id !== null) {
    const seen = state.toolIds.indexOf(id);
    return seen === -1 ? known : seen;
  }
  const startsCall = isObject(call.function) && typeof call.function.name === 'string' && call.function.name !== '';
  if (given === null) return startsCall || known === 0 ? known : known - 1;
  return Math.min(given, known);
}

function removeIdentity(call: Member): boolean {
  const removed = removeMembers(call, ['id', 'type']);
  return (isObject(call.function) && removeMembers(call.function, ['name'])) || removed;
}

/** Arguments are a JSON string on this wire; some hosts hand over the object itself. */
export function mendArguments(call: Member): boolean {
  const called = call.function;
  if (!isObject(called) || typeof called.arguments === 'string' || called.arguments === undefined) return false;
  called.arguments = called.arguments === null ? '' : JSON.stringify(called.arguments);
  return true;
}

/** A choice that tells the client nothing: what is left of a frame after its usage or its second finish was taken out. */
export function isHollow(choice: Member): boolean {
  if (choice.finish_reason !== null) return false;
  const delta = choice.delta as Member;
  return Object.entries(delta).every(([name, value]) => name === 'role' || isNothing(value));
}

function isNothing(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

const TEXT_MEMBERS = ['content', 'refusal', 'reasoning'];

/** UTF-8 bytes of what the model itself wrote in this delta or message. */
export function modelBytes(holder: Member): number {
  let bytes = 0;
  for (const name of TEXT_MEMBERS) {
    const text = holder[name];
    if (typeof text === 'string') bytes += Buffer.byteLength(text);
  }
  if (typeof holder.reasoning !== 'string' && typeof holder.reasoning_content === 'string') {
    bytes += Buffer.byteLength(holder.reasoning_content);
  }
  if (Array.isArray(holder.tool_calls)) for (const call of holder.tool_calls) bytes += callBytes(call);
  return bytes;
}

function callBytes(call: unknown): number {
  const called = isObject(call) ? call.function : undefined;
  if (!isObject(called)) return 0;
  const name = typeof called.name === 'string' ? Buffer.byteLength(called.name) : 0;
  return name + (typeof called.arguments === 'string' ? Buffer.byteLength(called.arguments) : 0);
}
