import { isObject, type Members } from './members.ts';

/** Members by which a host that is a gateway would reveal the host behind it, and a cloud's report on its content filter. */
export const HOST_MEMBERS: readonly string[] = ['provider', 'prompt_filter_results'];

/** The same in a choice of a response. */
export const CHOICE_MEMBERS: readonly string[] = ['native_finish_reason', 'content_filter_results'];

/** The service tiers that the vendor has published; hosts send words of their own. */
const SERVICE_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default', 'flex', 'scale', 'priority', null, undefined]);

export function isPublishedTier(tier: unknown): boolean {
  return SERVICE_TIERS.has(tier);
}

/** Ids of an aggregator name its own record of the call. */
const AGGREGATOR_ID = 'gen-';

/** Whether callers may see the host's id for a response. */
export function isUsableId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && !id.startsWith(AGGREGATOR_ID);
}

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
  if (!isObject(usage)) return {};
  if (!mentionsHostBill(usage)) return { ...usage };
  return Object.fromEntries(Object.entries(usage).filter(([name]) => !isOfHostBill(name)));
}
