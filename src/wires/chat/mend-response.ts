import { readErrorMember } from '../errors/read-host-error.ts';
import { CHOICE_MEMBERS, isUsableId } from '../fields/host-members.ts';
import { isAbsent, isObject, isText, type Members, objectsIn, removeMembers } from '../fields/members.ts';
import { HostResponseBroken, type RelayTerms } from '../wire.ts';
import { mendFinishReason } from './finish-reason.ts';
import { mendText } from './mend-text.ts';
import { completeCall } from './mend-tool-calls.ts';
import { removeHostMembers, removeUsage } from './quirks.ts';

/** A choice of a buffered response. */
export interface ResponseChoice extends Members {
  readonly message: Members;
}

/** The choices that are answers. One that a content filter withheld has no message; it gets an empty one. */
export function answersIn(choices: unknown): ResponseChoice[] {
  for (const choice of objectsIn(choices)) if (isWithheld(choice)) choice.message = {};
  return objectsIn(choices).filter((choice): choice is ResponseChoice => isObject(choice.message));
}

function isWithheld({ message, finish_reason: reason }: Members): boolean {
  return isAbsent(message) && mendFinishReason(reason, false) === 'content_filter';
}

/** Some hosts report an error with status 200. */
export function brokenResponse(answer: unknown): HostResponseBroken {
  const error = isObject(answer) ? answer.error : null;
  const hostError = error ? readErrorMember(error) : null;
  return new HostResponseBroken("The host's response is not a chat completion.", hostError);
}

/** Repairs a buffered response in place; true if anything changed. */
export function mendResponse(answer: Members, choices: readonly ResponseChoice[], terms: RelayTerms): boolean {
  let changed = removeHostMembers(answer);
  if (!isUsableId(answer.id)) changed = put(answer, 'id', `chatcmpl-${terms.requestId}`);
  if (!Number.isSafeInteger(answer.created)) changed = put(answer, 'created', terms.createdS);
  if (answer.object !== 'chat.completion') changed = put(answer, 'object', 'chat.completion');
  if (choices.length !== (answer.choices as unknown[]).length) changed = put(answer, 'choices', choices);
  choices.forEach((choice, position) => {
    if (!Number.isSafeInteger(choice.index)) changed = put(choice, 'index', position);
    changed = mendMessage(choice, terms) || changed;
  });
  return changed;
}

function mendMessage(choice: ResponseChoice, { requestId, hideReasoning }: RelayTerms): boolean {
  const { message } = choice;
  let changed = removeMembers(choice, CHOICE_MEMBERS);
  changed = removeUsage(choice) || changed;
  changed = mendText(message, hideReasoning) || changed;
  // Where the model has not reasoned, these members are absent; some hosts send them empty.
  if (message.reasoning === '') changed = removeMembers(message, TRACES) || changed;
  if (message.content === undefined) changed = put(message, 'content', null);
  if (message.role !== 'assistant') changed = put(message, 'role', 'assistant');
  const calls = callsOf(message);
  const hasCalls = calls.length > 0;
  const reason = mendFinishReason(choice.finish_reason, hasCalls) ?? (hasCalls ? 'tool_calls' : 'stop');
  const ids = new Set<string>();
  calls.forEach((call, position) => {
    const prefix = choice.index === 0 ? '' : `${choice.index}_`;
    // Some hosts give several calls one id, and then their results could not be told apart.
    const id = isText(call.id) && !ids.has(call.id) ? call.id : `call_${requestId}_${prefix}${position}`;
    ids.add(id);
    changed = completeCall(call, id) || changed;
    if (reason !== 'length') changed = fillArguments(call) || changed;
  });
  return reason === choice.finish_reason ? changed : put(choice, 'finish_reason', reason);
}

/** Clients parse the arguments, and an empty string is not JSON. */
function fillArguments({ function: called }: Members): boolean {
  return isObject(called) && called.arguments === '' && put(called, 'arguments', '{}');
}

const TRACES: readonly string[] = ['reasoning', 'reasoning_content'];

function callsOf(message: Members): Members[] {
  return objectsIn(message.tool_calls);
}

function put(holder: Members, name: string, value: unknown): true {
  holder[name] = value;
  return true;
}
