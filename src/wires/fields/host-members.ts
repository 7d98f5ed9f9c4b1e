import { isObject, type Members } from './members.ts';

/** Members of an answer by which a host that is itself a gateway would name the host behind it. */
export const HOST_MEMBERS: readonly string[] = ['provider'];

/** Whether a member of a host's usage speaks of the host's own bill. */
function isOfHostBill(name: string): boolean {
  return name.includes('cost') || name === 'is_byok';
}

export function tellsHostBill(usage: Readonly<Members>): boolean {
  for (const name in usage) if (isOfHostBill(name)) return true;
  return false;
}

/** A copy of a host's usage that says nothing of what the host was paid. */
export function withoutHostBill(usage: unknown): Members {
  const kept: Members = {};
  if (!isObject(usage)) return kept;
  for (const name of Object.keys(usage)) if (!isOfHostBill(name)) kept[name] = usage[name];
  return kept;
}
