import { HOST_MEMBERS as NAMES_OF_HOSTS } from '../fields/host-members.ts';
import { isObject, type Members } from '../fields/members.ts';

/** Usage stands in its own member, or inside the member a host keeps for itself. */
export function findUsage(chunk: Members): unknown {
  return chunk.usage ?? (isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
}

/** Members by which chunks and answers would name the host, its account or its own request id. */
export const HOST_MEMBERS: readonly string[] = ['x_groq', ...NAMES_OF_HOSTS];
