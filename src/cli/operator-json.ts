import { parseJson } from '../json/json.ts';

/** `"…_nanousd":123` as the verbs write it. Quotes inside strings are escaped, so no string can contain this. */
const AMOUNT = /("[a-z_]*_nanousd":)(-?[0-9]+)(?=[,}])/g;

/** Reads a verb's answer. Every `_nanousd` member becomes an exact bigint. */
export function readOperatorJson(text: string): unknown {
  return withAmounts(parseJson(text.replace(AMOUNT, '$1"$2"')));
}

function withAmounts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withAmounts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, readMember(name, member)]));
}

function readMember(name: string, member: unknown): unknown {
  // A caller's own metadata may have such a name too.
  const isAmount = name.endsWith('_nanousd') && typeof member === 'string' && /^-?[0-9]+$/.test(member);
  return isAmount ? BigInt(member) : withAmounts(member);
}
