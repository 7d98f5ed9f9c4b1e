import { isObject, isText, type Members } from '../fields/members.ts';
import type { Words } from '../frames/repeated-frames.ts';

const WORD_MEMBERS = [['content'], ['refusal'], ['reasoning', 'reasoning_content']];

/** The text of a delta; null unless it is in one member only. */
export function wordsOf(delta: Members): Words | null {
  const withText = WORD_MEMBERS.filter(([name]) => isText(delta[name!]));
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  if (withText.length + calls.length !== 1) return null;
  if (withText.length === 1) return { names: withText[0]!, text: delta[withText[0]![0]!] as string };
  const called = isObject(calls[0]) ? calls[0].function : null;
  const text = isObject(called) ? called.arguments : null;
  return isText(text) ? { names: ['arguments'], text } : null;
}
