import type { JsonEdit } from '../../json/json.ts';
import type { HostQuirks } from '../quirks.ts';

/** Leaves out and puts in what this host's row says, in the caller's own text. */
export function editHostFields(edit: JsonEdit, { omits = [], adds = {} }: HostQuirks): void {
  for (const name of omits) edit.remove([name]);
  for (const [name, value] of Object.entries(adds)) edit.set([name], JSON.stringify(value));
}

export function isOmitted(name: string, { omits = [] }: HostQuirks): boolean {
  return omits.includes(name);
}

/** What every wire does where a host's row says nothing. */
export const NO_QUIRKS: HostQuirks = {};
