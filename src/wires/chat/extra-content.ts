import { beyondMetadata, contentBytes, extraBytes } from '../fields/extra-bytes.ts';
import { isAbsent, isText, type Members } from '../fields/members.ts';
import { modelBytes } from './mend-text.ts';

const OF_CHUNK = new Set(['id', 'object', 'model', 'choices', 'usage', 'obfuscation']);
const OF_CHOICE = new Set(['delta', 'message', 'finish_reason', 'native_finish_reason', 'logprobs']);
const OF_DELTA = new Set([
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'function_call',
  // A label of the words beside it, as one host sends it.
  'channel',
]);

/** Bytes of content in a repaired chunk besides the model's words: images, annotations and whatever else a host sends. */
export function extraContent(chunk: Members, choices: readonly Members[]): number {
  let bytes = 0;
  let metadata = extraBytes(chunk, OF_CHUNK);
  for (const choice of choices) {
    metadata += extraBytes(choice, OF_CHOICE);
    bytes += extraOfDelta(choice.delta as Members, choice.logprobs);
  }
  return bytes + beyondMetadata(metadata);
}

/** The same for the delta of a choice, or the message of a buffered response. Log probabilities repeat the words, if there are any. */
export function extraOfDelta(delta: Members, logprobs: unknown): number {
  let bytes = extraBytes(delta, OF_DELTA);
  const hasReasoning = isText(delta.reasoning) || isText(delta.reasoning_content);
  if (!hasReasoning) bytes += contentBytes(delta.reasoning_details);
  return isAbsent(logprobs) || modelBytes(delta) > 0 ? bytes : bytes + contentBytes(logprobs);
}
