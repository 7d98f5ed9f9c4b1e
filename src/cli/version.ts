import { readFileSync } from 'node:fs';
import { parseJson } from '../json/json.ts';

export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (parseJson(text) as { version: string }).version;
}
