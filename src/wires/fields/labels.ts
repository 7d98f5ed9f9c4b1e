import { cutText } from '../../kit/cut-text.ts';
import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject, type Members } from './members.ts';

/** Fields that identify the caller's user; they become labels of the receipt. */
export const LABEL_FIELDS: readonly string[] = [
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'session_id',
  'metadata',
  'client_metadata',
];

/** The fields of a translated request that its host's row lists as forwarded. */
export function forwardedLabels(body: Members, forwards: readonly string[]): Members {
  const given = forwards.filter((name) => !isAbsent(body[name]));
  return Object.fromEntries(given.map((name) => [name, body[name]]));
}

export function readLabels(body: Members): Record<string, string> | null {
  const labels: Record<string, string> = {};
  let kept = 0;
  const keep = (name: string, value: unknown): void => {
    if (typeof value !== 'string' || kept === LIMITS.labelsMax) return;
    labels[name] = cutText(value, LIMITS.labelCharactersMax);
    kept++;
  };
  for (const field of LABEL_FIELDS) {
    const value = body[field];
    if (isObject(value)) for (const key of Object.keys(value)) keep(`${field}.${cutText(key, 64)}`, value[key]);
    else keep(field, value);
  }
  return kept === 0 ? null : labels;
}
