import { HOST_MEMBERS as NAMES_OF_HOSTS } from '../fields/host-members.ts';
import { isObject, type Members } from '../fields/members.ts';

/** Usage is in `usage`, or inside a member of the host's own. */
export function findUsage(chunk: Members): unknown {
  return chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
}

/** Members that would reveal the host, its account or its request id. */
export const HOST_MEMBERS: readonly string[] = ['x_groq', ...NAMES_OF_HOSTS];
