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

/** Within a string of JSON the second quote would have a backslash before it, so only names of members match. */
const AMOUNTS = /("[a-z_]*nanousd":\s*)(-?\d+)/g;

/** Parses a body of the gateway's own routes; members named `…_nanousd` become bigint, exact at any size. */
export function parseAmounts(text: string): unknown {
  return JSON.parse(text.replace(AMOUNTS, '$1"$2"'), (name, value: unknown) =>
    name.endsWith('nanousd') && typeof value === 'string' ? BigInt(value) : value,
  );
}
