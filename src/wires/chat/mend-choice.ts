import { CHOICE_MEMBERS } from '../fields/host-members.ts';
import { isAbsent, isObject, type Members, objectsIn, removeMembers } from '../fields/members.ts';
import { mendFinishReason } from './finish-reason.ts';
import { mendText } from './mend-text.ts';
import { type MintId, mendToolCalls, missingArguments, type ToolCallState } from './mend-tool-calls.ts';

/** What the stream has sent of one choice so far. */
export interface ChoiceState {
  readonly index: number;
  roleSent: boolean;
  finished: boolean;
  readonly calls: ToolCallState[];
}

export function newChoice(index: number): ChoiceState {
  return { index, roleSent: false, finished: false, calls: [] };
}

/** Repairs one choice of a chunk in place; true if anything changed. */
export function mendChoice(choice: Members, state: ChoiceState, hideReasoning: boolean, mintId: MintId): boolean {
  let changed = removeMembers(choice, CHOICE_MEMBERS);
  if (choice.index !== state.index) {
    choice.index = state.index;
    changed = true;
  }
  changed = mendShape(choice, state) || changed;
  const delta = choice.delta as Members;
  changed = mendText(delta, hideReasoning) || changed;
  changed = mendToolCalls(delta, state.calls, mintId) || changed;
  changed = mendRole(delta, state) || changed;
  return mendFinish(choice, state) || changed;
}

/** Some hosts send a `message` beside the deltas; it is used only if no text came before. */
function mendShape(choice: Members, state: ChoiceState): boolean {
  const { delta, message } = choice;
  if (message === undefined && isObject(delta)) return false;
  const isFirst = !state.roleSent && isObject(message);
  choice.delta = isObject(delta) ? delta : isFirst ? message : {};
  choice.message = undefined;
  return true;
}

function mendRole(delta: Members, state: ChoiceState): boolean {
  const isFirst = !state.roleSent;
  state.roleSent = true;
  if (delta.role === 'assistant' || (!isFirst && delta.role === undefined)) return false;
  delta.role = isFirst ? 'assistant' : undefined;
  return true;
}

/** Sent once per choice; null before. */
function mendFinish(choice: Members, state: ChoiceState): boolean {
  const said = choice.finish_reason;
  if (said === null) return false;
  const reason = state.finished ? null : mendFinishReason(said, state.calls.length > 0);
  state.finished ||= reason !== null;
  choice.finish_reason = reason;
  return reason !== said;
}

/** Adds missing arguments where a choice ends, unless the output limit may have cut them off. */
export function fillArguments(choice: Members, { calls }: ChoiceState): boolean {
  const { finish_reason: reason } = choice;
  const fragments = reason === null || reason === 'length' ? [] : missingArguments(calls);
  if (fragments.length === 0) return false;
  const delta = choice.delta as Members;
  const sent = objectsIn(delta.tool_calls);
  for (const missing of fragments) {
    // Some clients take two fragments of one call in a chunk for two calls.
    const own = sent.find(({ index }) => index === missing.index);
    if (own === undefined) sent.push(missing);
    else own.function = isObject(own.function) ? { ...own.function, ...missing.function } : missing.function;
  }
  delta.tool_calls = sent;
  return true;
}

/** A choice without content, such as a frame whose usage or second finish reason was removed. */
export function isEmptyChoice({ delta, finish_reason, logprobs }: Members): boolean {
  if (finish_reason !== null || !isNothing(logprobs)) return false;
  const members = delta as Members;
  for (const name of Object.keys(members)) if (name !== 'role' && !isNothing(members[name])) return false;
  return true;
}

export function isNothing(value: unknown): boolean {
  if (isAbsent(value) || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isAbsent);
}
