import { anObject, anything, aString, checkField, type FieldCheck } from '../fields/field-checks.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { isAbsent, type Members } from '../fields/members.ts';
import { refuseStream } from '../fields/refuse-stream.ts';
import { OTHER_PRICES, REFUSED_EVERYWHERE, refuseUnlessHarmless } from '../fields/refused-fields.ts';

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
  const unknown: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (isAbsent(value)) continue;
    if (Object.hasOwn(KNOWN_FIELDS, name)) checkField(name, value, KNOWN_FIELDS[name]!);
    else if (Object.hasOwn(REFUSED_FIELDS, name)) refuseUnlessHarmless(REFUSED_FIELDS, body, name);
    else unknown.push(name);
  }
  refuseStream(body, 'embeddings');
  return unknown;
}
