import type { CanonicalRequest, Sampling } from '../src/canonical/request.ts';

/** A request without any sampling field. */
export const SAMPLING: Sampling = {
  temperature: null,
  topP: null,
  topK: null,
  frequencyPenalty: null,
  presencePenalty: null,
  seed: null,
  stop: [],
};

/** The shortest request. */
export const REQUEST: CanonicalRequest = {
  messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'When?' }] }],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  sampling: SAMPLING,
  responseFormat: null,
  reasoning: null,
  verbosity: null,
};
