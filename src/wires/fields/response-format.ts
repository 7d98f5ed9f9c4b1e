import type { ResponseFormat } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { isAbsent, isObject, isText, type Members } from './members.ts';
import { noteOthers, optionalFlag, optionalSchema, optionalText } from './other-members.ts';
import { isEmpty } from './without-effect.ts';

/** Reads `response_format`, a field of several wires, into the canonical form. A type that no other wire has is left out and named. */
export function readResponseFormat(format: unknown, adjustments: Adjustments): ResponseFormat | null {
  if (isEmpty(format)) return null;
  const { type, json_schema: schema } = isObject(format) ? format : NO_MEMBERS;
  if (isText(type) && !TYPES.includes(type)) {
    adjustments.note('response_format');
    return null;
  }
  if (isObject(format)) noteOthers(format, 'response_format', FORMAT_MEMBERS, adjustments);
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema' || !isObject(schema)) {
    adjustments.drop('response_format', 'send text, json_object or json_schema');
    return null;
  }
  noteOthers(schema, SCHEMA_FIELD, SCHEMA_MEMBERS, adjustments);
  return readSchemaFormat(schema, SCHEMA_FIELD);
}

const NO_MEMBERS: Members = {};
const TYPES: readonly string[] = ['text', 'json_object', 'json_schema'];

const SCHEMA_FIELD = 'response_format.json_schema';
const FORMAT_MEMBERS: ReadonlySet<string> = new Set(['type', 'json_schema']);
const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict']);

/** The names of two parts of a schema in errors and notes about the host's wire. */
export const FORMAT_DESCRIPTION = `${SCHEMA_FIELD}.description`;
export const FORMAT_OPENNESS = `${SCHEMA_FIELD}.schema.additionalProperties`;

/** Reads the members that describe a schema, which wires have in different places. */
export function readSchemaFormat({ name, description, schema, strict }: Members, path: string): ResponseFormat {
  return {
    kind: 'schema',
    name: optionalText(name, `${path}.name`) ?? 'answer',
    description: optionalText(description, `${path}.description`),
    schema: optionalSchema(schema, `${path}.schema`) ?? {},
    strict: optionalFlag(strict, `${path}.strict`),
  };
}

/** How many of these are formats that a host describes to the model, as it does with tools. */
export function countFormats(...formats: readonly unknown[]): number {
  return formats.filter((format) => !isAbsent(format) && !(isObject(format) && format.type === 'text')).length;
}
