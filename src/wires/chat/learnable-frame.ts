import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject, isText, type Members } from '../fields/members.ts';
import type { StreamIdentity } from '../frames/frame-pattern.ts';
import { isNothing } from './mend-choice.ts';

/** Members whose text comes from the host, not from the model or the caller. */
const OF_CHUNK = new Set(['id', 'object', 'model', 'service_tier', 'system_fingerprint', 'provider', 'obfuscation']);
const OF_CHOICE = new Set(['finish_reason', 'native_finish_reason']);
const OF_DELTA = new Set(['role']);
const TEXT_MEMBERS = ['content', 'refusal', 'reasoning', 'reasoning_content'];

/**
 * Whether other streams may learn from a frame: without its text it contains nothing that a model or a caller wrote, and
 * it has the identity of its stream. It must be spelled as `JSON.stringify` does, so each member occurs once.
 */
export function isLearnable({ raw, data }: SseFrame, identity: StreamIdentity, hasWords: boolean): boolean {
  const chunk = data === null ? undefined : tryParseJson(data);
  if (!isObject(chunk) || !isSpelledAsByUs(raw, chunk)) return false;
  if (chunk.id !== identity.id || String(chunk.created) !== identity.created) return false;
  const choice = onlyObjectIn(chunk.choices);
  if (choice === null || !isObject(choice.delta)) return false;
  const withText = TEXT_MEMBERS.filter((name) => isText((choice.delta as Members)[name]));
  if (withText.length !== (hasWords ? 1 : 0)) return false;
  return (
    hasNoText(chunk, OF_CHUNK, 'choices') &&
    hasNoText(choice, OF_CHOICE, 'delta') &&
    hasNoText(choice.delta, OF_DELTA, withText[0])
  );
}

function isSpelledAsByUs(raw: Buffer, chunk: Members): boolean {
  const line = `data: ${JSON.stringify(chunk)}`;
  const text = raw.toString();
  return text === `${line}\n\n` || text === `${line}\r\n\r\n`;
}

export function onlyObjectIn(list: unknown): Members | null {
  return Array.isArray(list) && list.length === 1 && isObject(list[0]) ? list[0] : null;
}

/** Whether the members hold no text except in the host's own ones; nested values are refused, and `apart` is checked separately. */
export function hasNoText(members: Members, hostsOwn: ReadonlySet<string>, apart: string | undefined): boolean {
  return Object.entries(members).every(
    ([name, value]) => name === apart || isWithoutText(value) || (typeof value === 'string' && hostsOwn.has(name)),
  );
}

function isWithoutText(value: unknown): boolean {
  return isNothing(value) || typeof value === 'number' || typeof value === 'boolean';
}
