import { anObject, anything, aString, type FieldCheck } from '../fields/field-checks.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import type { Members } from '../fields/members.ts';
import { refuseStream } from '../fields/refuse-stream.ts';
import { checkByTables, OTHER_PRICES, REFUSED_EVERYWHERE } from '../fields/refused-fields.ts';

const aLength: FieldCheck = {
  says: 'a positive integer',
  holds: (value) => Number.isSafeInteger(value) && (value as number) > 0,
};
const aFormat: FieldCheck = {
  says: '"float" or "base64"',
  holds: (value) => value === 'float' || value === 'base64',
};

/** Known fields of this wire and their types; their values are checked elsewhere. */
const KNOWN_FIELDS: Readonly<Record<string, FieldCheck>> = {
  model: anything,
  input: anything,
  stream: anything,
  dimensions: aLength,
  encoding_format: aFormat,
  client_metadata: anObject,
  metadata: anObject,
  prompt_cache_key: aString,
  safety_identifier: aString,
  session_id: aString,
  usage: anObject,
  user: aString,
};

/** `prompt` is not refused on this wire: here it is an instruction that some hosts put before each input. */
const { prompt: _, ...REFUSED_FIELDS } = { ...REFUSED_EVERYWHERE, ...OTHER_PRICES };

/** Fields that are not sent to a host: those that only this gateway reads, and labels that the host's row does not forward. */
export function isWithheld(name: string, forwards: readonly string[]): boolean {
  if (LABEL_FIELDS.includes(name)) return !forwards.includes(name);
  // Some hosts truncate long inputs unless this field forbids it, so it is forwarded.
  if (name === 'truncation') return false;
  return name === 'stream' || name === 'usage' || Object.hasOwn(REFUSED_FIELDS, name);
}

/** Checks every field of a body; returns the names of unknown fields. */
export function checkFields(body: Members): string[] {
  const unknown = checkByTables(body, KNOWN_FIELDS, REFUSED_FIELDS);
  refuseStream(body, 'embeddings');
  return unknown;
}
