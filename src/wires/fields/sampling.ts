import type { Sampling } from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import type { HubRequestTerms } from '../hub.ts';
import type { Members } from './members.ts';
import { mustBe } from './request-errors.ts';
import { isEmpty } from './without-effect.ts';

/** Reads the sampling fields that several wires share. */
export function readSampling(text: JsonText): Sampling {
  const body = text.value as Members;
  const number = (name: string): number | null => (typeof body[name] === 'number' ? body[name] : null);
  return {
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: readTopK(body.top_k),
    frequencyPenalty: number('frequency_penalty'),
    presencePenalty: number('presence_penalty'),
    seed: text.exactMember('seed') ?? null,
    stop: readStop(body.stop),
  };
}

/** An empty string stops nothing. */
function readStop(stop: unknown): string[] {
  if (isEmpty(stop)) return [];
  return Array.isArray(stop) ? stop.map(String) : [String(stop)];
}

/** Zero is the documented default, which considers every token. */
export function readTopK(value: unknown): number | null {
  if (typeof value === 'number') return value || null;
  if (isEmpty(value)) return null;
  throw mustBe('top_k', 'an integer');
}

/**
 * `temperature` and `top_p` for hosts of the chat and responses wires. Models with fixed sampling refuse them while they
 * reason. If the model is certain to reason, they are left out and named; otherwise the host decides.
 */
export function writeTemperature({ temperature, topP }: Sampling, terms: HubRequestTerms, notes: Adjustments): Members {
  const written: Members = {};
  for (const [name, value] of Object.entries({ temperature, top_p: topP })) {
    if (value === null) continue;
    if (!isRefused(terms)) written[name] = value;
    else if (value !== 1) notes.note(name);
  }
  return written;
}

function isRefused({ fixedSampling, alwaysReasons, reasoningEffort: effort }: HubRequestTerms): boolean {
  if (fixedSampling !== true) return false;
  return effort === null ? alwaysReasons === true : effort !== 'none';
}
