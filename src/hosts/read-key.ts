import { closeSync, openSync, readSync } from 'node:fs';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface FoundKey {
  readonly key: Secret;
  /** The variable it came from. */
  readonly source: string;
}

/** A key that cannot be read. Names the variable, never its value. */
export class KeyUnreadable extends Error {
  override readonly name = 'KeyUnreadable';
}

/** The first variable that is set, directly or as `<NAME>_FILE`; null if none is. */
export function readKey(variables: readonly string[], env: Environment): FoundKey | null {
  for (const variable of variables) {
    const found = readVariable(variable, env);
    if (found !== null) return found;
  }
  return null;
}

function readVariable(variable: string, env: Environment): FoundKey | null {
  const fileVariable = `${variable}_FILE`;
  const value = env[variable] || null;
  const path = env[fileVariable] || null;
  if (value !== null && path !== null) {
    throw new KeyUnreadable(`${variable} and ${fileVariable} are both set; unset one of them`);
  }
  if (value !== null) return { key: asHeaderValue(value, variable), source: variable };
  if (path !== null) return { key: asHeaderValue(readKeyFile(path, fileVariable), fileVariable), source: fileVariable };
  return null;
}

function readKeyFile(path: string, variable: string): string {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    const buffer = Buffer.alloc(LIMITS.providerKeyFileBytesMax);
    return buffer.toString('utf8', 0, readSync(file, buffer));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new KeyUnreadable(`${variable} names a file that cannot be read (${code})`);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** The key goes into a header, so it must be visible ASCII; this finds a stray line break before the first call. */
function asHeaderValue(text: string, variable: string): Secret {
  const key = text.trim();
  if (key === '') throw new KeyUnreadable(`${variable} contains an empty key`);
  if (key.length > LIMITS.providerKeyCharsMax) throw new KeyUnreadable(`${variable} contains a key that is too long`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new KeyUnreadable(`${variable} contains a key with spaces, line breaks or other invalid characters`);
  }
  return new Secret(key);
}
