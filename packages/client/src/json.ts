export type JsonObject = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function textOf(value: unknown): string | null {
  return isText(value) ? value : null;
}

/** Within a string of JSON the second quote would have a backslash before it, so only names of members match. */
const AMOUNTS = /("[a-z_]*nanousd":\s*)(-?\d+)/g;

/** The gateway never sends this character, so an amount cannot be confused with a string in a caller's metadata. */
const MARK = '\0';

/** Parses a body of the gateway's own routes; numbers named `…_nanousd` become bigint, exact at any size. */
export function parseAmounts(text: string): unknown {
  return JSON.parse(text.replace(AMOUNTS, '$1"\\u0000$2"'), (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(1)) : value,
  );
}
