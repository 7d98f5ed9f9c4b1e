import { isObject, type Members } from './members.ts';

/** Members by which a host that is a gateway would reveal the host behind it. */
export const HOST_MEMBERS: readonly string[] = ['provider'];

/** Whether a member of a host's usage is about the host's own bill. */
function isOfHostBill(name: string): boolean {
  return name.includes('cost') || name === 'is_byok';
}

export function mentionsHostBill(usage: Readonly<Members>): boolean {
  for (const name in usage) if (isOfHostBill(name)) return true;
  return false;
}

/** A copy of a host's usage without the host's own bill. */
export function withoutHostBill(usage: unknown): Members {
  const kept: Members = {};
  if (!isObject(usage)) return kept;
  for (const name of Object.keys(usage)) if (!isOfHostBill(name)) kept[name] = usage[name];
  return kept;
}
