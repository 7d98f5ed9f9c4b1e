import type { AnswerFormat } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { isAbsent, isObject } from './members.ts';

/** Reads `response_format`, a field of several wires, into the common language. */
export function readResponseFormat(format: unknown, adjustments: Adjustments): AnswerFormat | null {
  if (isAbsent(format)) return null;
  const type = isObject(format) ? format.type : undefined;
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  const schema = isObject(format) && type === 'json_schema' ? format.json_schema : undefined;
  if (!isObject(schema)) {
    adjustments.drop('response_format', 'send text, json_object or json_schema');
    return null;
  }
  return {
    kind: 'schema',
    name: String(schema.name ?? 'answer'),
    description: typeof schema.description === 'string' ? schema.description : null,
    schema: isObject(schema.schema) ? schema.schema : {},
    strict: typeof schema.strict === 'boolean' ? schema.strict : null,
  };
}

/** How many of these are formats that a host describes to the model, as it does with tools. */
export function countFormats(...formats: readonly unknown[]): number {
  return formats.filter((format) => !isAbsent(format) && !(isObject(format) && format.type === 'text')).length;
}
