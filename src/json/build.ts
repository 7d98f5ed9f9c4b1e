import {
  afterString,
  afterValue,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  decodeString,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './bytes.ts';

type Container = Record<string, unknown> | unknown[];

/**
 * Builds the value of valid JSON without duplicate keys; only scalars are left to V8. JSON.parse can confuse an escaped
 * key with another key of an object of the same shape (https://github.com/nodejs/node/issues/63785), so
 * `"\u006e": 128` could hide `n` from us but not from a host.
 */
export function buildJson(bytes: Buffer, parseScalar: (json: string) => unknown): unknown {
  const source = { bytes, ascii: null };
  const root: unknown[] = [];
  const open: Container[] = [root];
  /** For each open object, the key that still has no value. */
  const keys: (string | null)[] = [null];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    const parent = open.at(-1)!;
    if (byte === QUOTE && !Array.isArray(parent) && keys.at(-1) === null) {
      const end = afterString(source, at);
      keys[keys.length - 1] = decodeString(bytes, at + 1, end - 1);
      at = end;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const container: Container = byte === OPEN_BRACE ? {} : [];
      put(parent, keys, container);
      open.push(container);
      keys.push(null);
      at++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      open.pop();
      keys.pop();
      at++;
    } else if (byte === COMMA || byte === COLON || isSpace(byte)) at++;
    else {
      const end = afterValue(source, at);
      put(parent, keys, parseScalar(bytes.toString('utf8', at, end)));
      at = end;
    }
  }
  return root[0];
}

function put(parent: Container, keys: (string | null)[], value: unknown): void {
  if (Array.isArray(parent)) {
    parent.push(value);
    return;
  }
  const key = keys.at(-1)!;
  keys[keys.length - 1] = null;
  if (key === '__proto__') {
    Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true });
  } else parent[key] = value;
}
