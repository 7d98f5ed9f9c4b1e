import { CHOICE_MEMBERS, HOST_MEMBERS, isPublishedTier } from '../fields/host-members.ts';
import { isAbsent, isText, type Members, removeMembers } from '../fields/members.ts';
import type { Words } from '../frames/repeated-frames.ts';

const TRACE_MEMBERS = ['reasoning', 'reasoning_content', 'reasoning_details'];

/** Repairs the members that every choice has, streamed or buffered; true if anything changed. */
export function mendChoice(choice: Members, index: number, hideReasoning: boolean): boolean {
  let changed = removeMembers(choice, CHOICE_MEMBERS);
  changed = (hideReasoning && removeMembers(choice, TRACE_MEMBERS)) || changed;
  if (choice.index !== index) changed = put(choice, 'index', index);
  if (typeof choice.text !== 'string') changed = put(choice, 'text', '');
  if (choice.logprobs === undefined) changed = put(choice, 'logprobs', null);
  return changed;
}

/** Removes what only this host sends from a chunk or a response. */
export function removeHostMembers(holder: Members): boolean {
  const removed = removeMembers(holder, HOST_MEMBERS);
  return isPublishedTier(holder.service_tier) ? removed : put(holder, 'service_tier', undefined);
}

export function wordsOf({ text }: Members): Words | null {
  return isText(text) ? { names: ['text'], text } : null;
}

/** A choice without content, such as a frame whose usage or second finish reason was removed. */
export function isEmptyChoice({ text, logprobs, finish_reason: reason }: Members): boolean {
  return text === '' && reason === null && isAbsent(logprobs);
}

export function put(holder: Members, name: string, value: unknown): true {
  holder[name] = value;
  return true;
}
