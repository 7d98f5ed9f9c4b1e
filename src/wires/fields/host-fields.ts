import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { JsonEdit } from '../../json/json.ts';
import type { Members } from './members.ts';

/** Removes and adds fields as the host's row says, in the caller's own bytes. */
export function editHostFields(edit: JsonEdit, { omits = [], adds = {} }: HostQuirks): void {
  for (const name of omits) edit.remove([name]);
  for (const [name, value] of Object.entries(adds)) edit.set([name], JSON.stringify(value));
}

/** The same in a translated request. */
export function withHostFields(body: Members, { omits = [], adds = {} }: HostQuirks): Members {
  const kept = { ...body };
  for (const name of omits) delete kept[name];
  return { ...kept, ...adds };
}

export function isOmitted(name: string, { omits = [] }: HostQuirks): boolean {
  return omits.includes(name);
}

/** For hosts whose row has no quirks. */
export const NO_QUIRKS: HostQuirks = {};
