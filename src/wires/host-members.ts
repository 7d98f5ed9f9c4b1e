import { isObject, type Members } from './members.ts';

/** Members of an answer by which a host that is itself a gateway would name the host behind it. */
export const HOST_MEMBERS: readonly string[] = ['provider'];

/** Members of a host's usage that speak of the host's own bill. */
const HOST_BILL = /cost|^is_byok$/;

/** A copy of a host's usage that says nothing of what the host was paid. */
export function withoutHostBill(usage: unknown): Members {
  const kept: Members = {};
  if (!isObject(usage)) return kept;
  for (const name of Object.keys(usage)) if (!HOST_BILL.test(name)) kept[name] = usage[name];
  return kept;
}
