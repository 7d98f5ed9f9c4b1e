import { beyondMetadata, contentBytes, extraBytes } from '../fields/extra-bytes.ts';
import type { Members } from '../fields/members.ts';

const OF_CHUNK = new Set(['id', 'object', 'model', 'choices', 'usage']);
const OF_CHOICE = new Set(['text', 'logprobs', 'finish_reason', 'reasoning', 'reasoning_content', 'reasoning_details']);

/** Bytes of content in a repaired chunk besides its text: reasoning, and whatever else a host sends. */
export function extraContent(chunk: Members, choices: readonly Members[]): number {
  let bytes = 0;
  let metadata = extraBytes(chunk, OF_CHUNK);
  for (const choice of choices) {
    metadata += extraBytes(choice, OF_CHOICE);
    bytes += extraOfChoice(choice);
  }
  return bytes + beyondMetadata(metadata);
}

/** Log probabilities repeat the text, if there is any. */
export function extraOfChoice({ text, logprobs, ...choice }: Members): number {
  const reasoning = contentBytes(choice.reasoning) || contentBytes(choice.reasoning_content);
  const bytes = reasoning || contentBytes(choice.reasoning_details);
  return text === '' ? bytes + contentBytes(logprobs) : bytes;
}
