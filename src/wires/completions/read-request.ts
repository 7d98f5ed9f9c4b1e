import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import { refusing } from '../adjustments.ts';
import type { Members } from '../fields/members.ts';
import { noteStreamOptions } from '../fields/other-members.ts';
import { untranslatable } from '../fields/request-errors.ts';
import { readResponseFormat } from '../fields/response-format.ts';
import { readSampling } from '../fields/sampling.ts';
import { translateReasoning } from '../fields/translate-reasoning.ts';
import { hasNoEffect } from '../fields/without-effect.ts';
import type { Peek } from '../peek.ts';
import { isWithheld } from './fields.ts';

/** Fields that are read below, or that only this gateway reads. */
const CARRIED = new Set([
  ...['model', 'prompt', 'max_tokens', 'stream', 'stream_options', 'stop', 'response_format', 'reasoning_effort'],
  ...['temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty', 'seed', 'thinking'],
]);

/** A prompt for a chat model becomes one user message. Fields that only hosts of this wire support are refused by name. */
export function readRequest(text: JsonText, peek: Peek, adjustments = refusing()): CanonicalRequest {
  const body = text.value as Members;
  for (const name of Object.keys(body)) {
    if (CARRIED.has(name) || isWithheld(name, []) || hasNoEffect(name, body[name])) continue;
    adjustments.dropUnknown(name, body[name]);
  }
  noteStreamOptions(body, adjustments);
  if (body.max_tokens === 0) throw untranslatable('max_tokens', 'send at least 1');
  return {
    messages: [{ role: 'user', blocks: [{ kind: 'text', text: readPrompt(body.prompt) }] }],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    sampling: readSampling(text),
    responseFormat: readResponseFormat(text.exactMember('response_format'), adjustments),
    reasoning: translateReasoning(body, peek, adjustments),
    verbosity: null,
  };
}

/** A list of one string counts as that string: some clients always send lists. */
function readPrompt(prompt: unknown): string {
  const only = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof only === 'string' && only !== '') return only;
  throw untranslatable('prompt', 'send one string that is not empty');
}
