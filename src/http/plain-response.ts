import { stringifyJson } from '../json/stringify.ts';
import type { PlainResponse } from './routes.ts';

export function ok(value: unknown): PlainResponse {
  return { status: 200, body: stringifyJson(value) };
}
