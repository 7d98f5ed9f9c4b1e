const AMOUNT = '_nanousd';
/** Up to fifteen digits are exact as a number, which is below a million dollars. */
const LONG_AMOUNT = /_nanousd":\s*-?\d{16}/;

/**
 * Amounts become bigint, from their digits where a number would not hold them exactly. Reading every member from its digits
 * takes several times as long, and a report has a hundred thousand members.
 */
export function parseApiJson(text: string): unknown {
  if (!LONG_AMOUNT.test(text)) return withBigintAmounts(JSON.parse(text));
  return JSON.parse(text, (name, value: unknown, context?: { readonly source?: string }) =>
    name.endsWith(AMOUNT) && typeof value === 'number' ? BigInt(context?.source ?? value) : value,
  );
}

function withBigintAmounts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (typeof member === 'object') withBigintAmounts(member);
    else if (typeof member === 'number' && name.endsWith(AMOUNT)) members[name] = BigInt(member);
  }
  return value;
}

/** The API takes amounts as digits in a string. */
export function stringifyApiJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member), indent);
}

/** As the API writes it, with amounts as integers: for copying. */
export function printApiJson(value: unknown): string {
  const amounts: string[] = [];
  const text = JSON.stringify(
    value,
    (_, member: unknown) => (typeof member === 'bigint' ? `\u0000${amounts.push(String(member)) - 1}\u0000` : member),
    2,
  );
  return text.replaceAll(/"\\u0000(\d+)\\u0000"/g, (_, at: string) => amounts[Number(at)] ?? '0');
}
