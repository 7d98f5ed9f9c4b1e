import type { CanonicalRequest } from '../src/canonical/request.ts';
import type { HubRequestTerms } from '../src/wires/hub.ts';
import { writeRequest } from '../src/wires/messages/write-request.ts';
import { REQUEST } from './shortest-request.ts';

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
