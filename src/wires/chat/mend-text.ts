import { isObject, isText, type Members, removeMembers } from '../fields/members.ts';
import { removeNulls } from './quirks.ts';

const TRACE_MEMBERS = ['reasoning', 'reasoning_content', 'reasoning_details'];

/** Repairs the text of a delta or message: plain strings, and reasoning under both names or under none. */
export function mendText(holder: Members, hideReasoning: boolean): boolean {
  let changed = removeNulls(holder);
  if (Array.isArray(holder.content)) changed = splitContent(holder, holder.content);
  for (const name of ['content', 'refusal', 'reasoning', 'reasoning_content']) {
    if (isTextOrNothing(holder[name])) continue;
    holder[name] = undefined;
    changed = true;
  }
  return mendReasoning(holder, hideReasoning) || changed;
}

function isTextOrNothing(value: unknown): boolean {
  return typeof value === 'string' || value === null || value === undefined;
}

/** Turns content parts into the two strings that clients read: text and reasoning. */
function splitContent(holder: Members, parts: readonly unknown[]): true {
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

/** Puts reasoning under both names, since clients read either one; removes it if it is not wanted. */
function mendReasoning(holder: Members, hide: boolean): boolean {
  if (hide) return removeMembers(holder, TRACE_MEMBERS);
  const { reasoning, reasoning_content: content } = holder;
  if (typeof reasoning === 'string' && reasoning === content) return false;
  const words = isText(reasoning) ? reasoning : isText(content) ? content : reasoningIn(holder.reasoning_details);
  const trace = words ?? reasoning ?? content;
  if (typeof trace !== 'string') return false;
  holder.reasoning = trace;
  holder.reasoning_content = trace;
  return true;
}

function reasoningIn(details: unknown): string | null {
  if (!Array.isArray(details)) return null;
  let trace: string | null = null;
  for (const one of details) {
    if (isObject(one) && one.type === 'reasoning.text' && typeof one.text === 'string') {
      trace = (trace ?? '') + one.text;
    }
  }
  return trace;
}

/** UTF-8 bytes that the model wrote in this delta or message; reasoning under two names counts once. */
export function modelBytes(holder: Members): number {
  const trace = typeof holder.reasoning === 'string' ? holder.reasoning : holder.reasoning_content;
  let bytes = byteLength(holder.content) + byteLength(holder.refusal) + byteLength(trace);
  if (Array.isArray(holder.tool_calls)) for (const call of holder.tool_calls) bytes += callBytes(call);
  return isObject(holder.function_call) ? bytes + calledBytes(holder.function_call) : bytes;
}

function callBytes(call: unknown): number {
  if (!isObject(call)) return 0;
  const called = call.function ?? call.custom;
  return isObject(called) ? calledBytes(called) : 0;
}

function calledBytes({ name, arguments: args, input }: Members): number {
  return byteLength(name) + byteLength(args) + byteLength(input);
}

function byteLength(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0;
}
