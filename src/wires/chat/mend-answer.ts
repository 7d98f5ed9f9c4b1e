import { type Members, objectsIn, removeMembers } from '../fields/members.ts';
import type { RelayTerms } from '../wire.ts';
import { mendFinishReason } from './finish-reason.ts';
import { mendText } from './mend-text.ts';
import { completeCall } from './mend-tool-calls.ts';
import { HOST_MEMBERS } from './quirks.ts';

/** A choice of a buffered response. */
export interface AnswerChoice extends Members {
  readonly message: Members;
}

/** Repairs a buffered response in place; true if anything changed. */
export function mendAnswer(answer: Members, choices: readonly AnswerChoice[], terms: RelayTerms): boolean {
  let changed = removeMembers(answer, HOST_MEMBERS);
  if (typeof answer.id !== 'string' || answer.id === '') changed = put(answer, 'id', `chatcmpl-${terms.requestId}`);
  if (!Number.isSafeInteger(answer.created)) changed = put(answer, 'created', terms.createdS);
  if (answer.object !== 'chat.completion') changed = put(answer, 'object', 'chat.completion');
  if (choices.length !== (answer.choices as unknown[]).length) changed = put(answer, 'choices', choices);
  choices.forEach((choice, position) => {
    if (!Number.isSafeInteger(choice.index)) changed = put(choice, 'index', position);
    changed = mendMessage(choice, terms) || changed;
  });
  return changed;
}

function mendMessage(choice: AnswerChoice, { requestId, hideReasoning }: RelayTerms): boolean {
  const { message } = choice;
  let changed = mendText(message, hideReasoning);
  if (message.content === undefined) changed = put(message, 'content', null);
  if (message.role !== 'assistant') changed = put(message, 'role', 'assistant');
  const calls = callsOf(message);
  calls.forEach((call, position) => {
    const prefix = choice.index === 0 ? '' : `${choice.index}_`;
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : `call_${requestId}_${prefix}${position}`;
    changed = completeCall(call, id) || changed;
  });
  const hasCalls = calls.length > 0;
  const reason = mendFinishReason(choice.finish_reason, hasCalls) ?? (hasCalls ? 'tool_calls' : 'stop');
  return reason === choice.finish_reason ? changed : put(choice, 'finish_reason', reason);
}

function callsOf(message: Members): Members[] {
  return objectsIn(message.tool_calls);
}

function put(holder: Members, name: string, value: unknown): true {
  holder[name] = value;
  return true;
}
