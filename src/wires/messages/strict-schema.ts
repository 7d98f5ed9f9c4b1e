import { isWrittenNumber } from '../../json/json.ts';
import { isAbsent, type Members } from '../fields/members.ts';
import { isSchema } from '../fields/other-members.ts';

/** String formats that the vendor's hosts support. */
const FORMATS: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
];
/** Keywords that are kept unchanged. */
const PLAIN = ['type', 'description', 'title', 'default', 'required', '$ref'];
const MAPS = ['properties', '$defs', 'definitions'];
const LISTS = ['anyOf', 'allOf'];

interface StrictSchema {
  readonly schema: Members;
  /** Members of any name were allowed somewhere, and no longer are: a map can only be empty. */
  readonly closesObject: boolean;
}

/**
 * A JSON schema without the keywords that hosts of this wire refuse. The removed ones are added to the description, so
 * that the model still reads them, as the vendor's own SDK does.
 */
export function strictSchema(given: Members): StrictSchema {
  let closesObject = false;
  const schema = strictPart(given, () => {
    closesObject = true;
  });
  return { schema, closesObject };
}

function strictPart(schema: Members, onClosed: () => void): Members {
  const strict: Members = {};
  const removed: string[] = [];
  for (const name of Object.keys(schema)) {
    const value = schema[name];
    const kept = keep(name, value, onClosed);
    if (kept !== undefined) strict[name === 'oneOf' ? 'anyOf' : name] = kept;
    else if (!isDropped(name, value)) removed.push(`${name}: ${JSON.stringify(value)}`);
  }
  if (takesAnyMember(schema)) onClosed();
  if (isObjectSchema(strict)) strict.additionalProperties = false;
  if (removed.length > 0) strict.description = `${before(strict.description)}{${removed.join(', ')}}`;
  return strict;
}

/** Keywords that are dropped without telling the model. */
function isDropped(name: string, value: unknown): boolean {
  if (name === 'additionalProperties') return !isOpen(value);
  return name === '$schema' || name === '$id' || value === undefined;
}

function isOpen(additional: unknown): boolean {
  return additional === true || isSchema(additional);
}

/** Whether it is a map: it allows members that it does not name, or names none at all. */
function takesAnyMember(schema: Members): boolean {
  const { additionalProperties: additional, patternProperties: patterns } = schema;
  if (isOpen(additional) || (isSchema(patterns) && Object.keys(patterns).length > 0)) return true;
  return isAbsent(additional) && isObjectSchema(schema) && !NAMING.some((name) => Object.hasOwn(schema, name));
}

/** Keywords that name the members of an object. */
const NAMING: readonly string[] = ['properties', ...LISTS, 'oneOf', '$ref', 'enum', 'const'];

function before(description: unknown): string {
  return typeof description === 'string' && description !== '' ? `${description}\n\n` : '';
}

/** The supported form of a keyword; undefined if hosts do not support it. */
function keep(name: string, value: unknown, onClosed: () => void): unknown {
  if (PLAIN.includes(name)) return value;
  if (name === 'items') return isSchema(value) ? strictPart(value, onClosed) : undefined;
  if (name === 'enum') return Array.isArray(value) && value.every(isScalar) ? value : undefined;
  if (name === 'const') return isScalar(value) ? value : undefined;
  if (name === 'format') return FORMATS.includes(value) ? value : undefined;
  if (name === 'minItems') return value === 0 || value === 1 ? value : undefined;
  if (MAPS.includes(name) && isSchema(value)) return mapValues(value, onClosed);
  if ((LISTS.includes(name) || name === 'oneOf') && Array.isArray(value)) {
    return value.map((one) => (isSchema(one) ? strictPart(one, onClosed) : one));
  }
  return undefined;
}

function mapValues(schemas: Members, onClosed: () => void): Members {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isSchema(schema) ? strictPart(schema, onClosed) : schema]),
  );
}

function isObjectSchema({ type, properties }: Members): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isSchema(properties);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object' || isWrittenNumber(value);
}
