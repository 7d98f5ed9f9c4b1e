import type { CanonicalRequest, Sampling } from '../src/canonical/request.ts';
import type { HubRequestTerms } from '../src/wires/hub.ts';
import { writeRequest } from '../src/wires/messages/write-request.ts';

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
  answerFormat: null,
  reasoning: null,
  verbosity: null,
};

export const TERMS: HubRequestTerms = {
  hostModel: 'vendor-claude',
  stream: false,
  outputLimit: 4096,
  outputLimitField: 'max_completion_tokens',
  reasoningEffort: null,
  thinking: null,
};

/** The shortest request with these changes, as a host of the messages wire gets it. */
export function write(request: Partial<CanonicalRequest>, terms: Partial<HubRequestTerms> = {}) {
  return JSON.parse(writeRequest({ ...REQUEST, ...request }, { ...TERMS, ...terms }).toString());
}
