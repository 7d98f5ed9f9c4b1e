import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import type { Members } from '../fields/members.ts';
import type { Peek } from '../peek.ts';
import { notCounted, readPromptCount } from '../usage/prompt-count.ts';
import type { PromptCounter } from '../wire.ts';
import { peek as peekCall } from './peek.ts';
import { readRequest } from './read-request.ts';
import { editPrompt } from './splice-request.ts';

/** Fields that hosts count. */
const COUNTED = new Set(['model', 'input', 'instructions', 'tools', 'tool_choice', 'text', 'parallel_tool_calls']);
/** Fields that are accepted but make no difference to the count. */
const IGNORED = [
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
  'truncation',
  'previous_response_id',
  'conversation',
];

function peek(text: JsonText): Peek {
  const peeked = peekCall(text);
  const body = text.value as Members;
  for (const name of Object.keys(body)) {
    if (!COUNTED.has(name) && !IGNORED.includes(name) && body[name] !== null) throw notCounted(name);
  }
  return peeked;
}

/** The caller's own bytes, with the host's name of the model, and tools as the host gets them. */
function spliceRequest(text: JsonText, hostModel: string, quirks: HostQuirks): Buffer {
  const body = text.value as Members;
  const edit = text.edit();
  for (const name of Object.keys(body)) if (!COUNTED.has(name)) edit.remove([name]);
  if (body.model !== hostModel) edit.set(['model'], JSON.stringify(hostModel));
  editPrompt(text, edit, quirks);
  return edit.apply();
}

function readPrompt(text: JsonText): CanonicalRequest {
  return readRequest(text, peekCall(text));
}

function writeCount(inputTokens: number): string {
  return JSON.stringify({ object: 'response.input_tokens', input_tokens: inputTokens });
}

export const inputTokens: PromptCounter = {
  path: '/responses/input_tokens',
  peek,
  spliceRequest,
  readPrompt,
  readCount: readPromptCount,
  writeCount,
};
