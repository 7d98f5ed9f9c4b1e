import { isPublishedTier, HOST_MEMBERS as NAMES_OF_HOSTS } from '../fields/host-members.ts';
import { isObject, type Members, objectsIn, removeMembers } from '../fields/members.ts';

/** Usage is in `usage`, inside a member of the host's own, or in the only choice; none of several has the usage of all. */
export function findUsage(chunk: Members, hasOneChoice: boolean): unknown {
  const usage = chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
  return usage ?? (hasOneChoice ? objectsIn(chunk.choices)[0]?.usage : undefined);
}

/** Callers get the billed usage, in its own place. */
export function removeUsage(choice: Members): boolean {
  return removeMembers(choice, USAGE);
}

const USAGE: readonly string[] = ['usage'];

/** Members that would reveal the host, its account or its request id. */
const HOST_MEMBERS: readonly string[] = ['x_groq', ...NAMES_OF_HOSTS];

/** Removes what only this host sends from a chunk or a response. */
export function removeHostMembers(holder: Members): boolean {
  const removed = removeMembers(holder, HOST_MEMBERS);
  if (isPublishedTier(holder.service_tier)) return removed;
  holder.service_tier = undefined;
  return true;
}

/** Members that are absent where there is nothing to say; clients take null for a list or a text. */
const NEVER_NULL = [
  'tool_calls',
  'annotations',
  'function_call',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
];

export function removeNulls(holder: Members): boolean {
  let removed = false;
  for (const name of NEVER_NULL) {
    if (holder[name] !== null) continue;
    holder[name] = undefined;
    removed = true;
  }
  return removed;
}
