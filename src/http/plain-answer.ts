import { stringifyJson } from '../json/stringify.ts';
import type { PlainAnswer } from './routes.ts';

export function ok(value: unknown): PlainAnswer {
  return { status: 200, body: stringifyJson(value) };
}
