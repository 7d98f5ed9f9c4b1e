import type { CanonicalRequest } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { hasNoEffect } from './without-effect.ts';

/** Reads the wanted length of the answer, which two wires can express; the default needs no translation. */
export function readVerbosity(value: unknown, adjustments: Adjustments): CanonicalRequest['verbosity'] {
  if (value === 'low' || value === 'high') return value;
  if (!hasNoEffect('verbosity', value)) adjustments.drop('verbosity', 'send low, medium or high');
  return null;
}
