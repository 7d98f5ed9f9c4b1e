import type { Sampling } from '../../canonical/request.ts';
import type { Members } from './members.ts';

/** Reads the sampling fields that several wires share. */
export function readSampling(body: Members): Sampling {
  const number = (name: string): number | null => (typeof body[name] === 'number' ? body[name] : null);
  const { stop } = body;
  return {
    temperature: number('temperature'),
    topP: number('top_p'),
    // Zero is the documented default, which considers every token.
    topK: number('top_k') || null,
    frequencyPenalty: number('frequency_penalty'),
    presencePenalty: number('presence_penalty'),
    seed: number('seed'),
    stop: typeof stop === 'string' ? [stop] : Array.isArray(stop) ? stop.map(String) : [],
  };
}
