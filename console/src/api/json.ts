/** Amounts may exceed what a number holds exactly, so they become bigint from their digits. */
export function parseApiJson(text: string): unknown {
  return JSON.parse(text, (name, value: unknown, context?: { readonly source?: string }) =>
    name.endsWith('_nanousd') && typeof value === 'number' ? BigInt(context?.source ?? value) : value,
  );
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
