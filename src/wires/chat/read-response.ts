import type { EventSink } from '../../canonical/events.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import { tryParseJson } from '../../json/json.ts';
import { randomBase62 } from '../../kit/ids.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import { usageRule } from '../usage/inclusive-usage.ts';
import { readPromptUsage } from '../usage/prompt-usage.ts';
import { signingVendor } from './call-signatures.ts';
import { DeltaEmitter, finishReasonOf } from './emit-delta.ts';
import { isFailure } from './finish-reason.ts';
import { mendChoice, newChoice } from './mend-choice.ts';
import { answersIn, brokenResponse } from './mend-response.ts';
import { exactResponse } from './mend-tool-calls.ts';
import { findUsage } from './quirks.ts';

/** Reads a buffered response as a stream of one delta. */
export function readResponse(body: Buffer, quirks: HostQuirks, emit: EventSink): void {
  const answer = exactResponse(tryParseJson(body.toString('utf8')), body);
  const choice = isObject(answer) ? answersIn(answer.choices)[0] : undefined;
  if (!isObject(answer) || choice === undefined || isObject(answer.error)) throw brokenResponse(answer);
  if (isFailure(choice.finish_reason)) throw brokenResponse(choice);
  const { id, created } = answer;
  emit({
    kind: 'start',
    id: typeof id === 'string' && id !== '' ? id : null,
    createdS: Number.isSafeInteger(created) ? (created as number) : null,
  });
  const state = newChoice(0);
  const whole: Members = { ...choice, delta: undefined };
  numberCalls(whole);
  mendChoice(whole, state, false, () => `call_${randomBase62(24)}`);
  const deltas = new DeltaEmitter(emit, signingVendor(quirks));
  deltas.delta(whole.delta as Members);
  emit({ kind: 'usage', reading: readPromptUsage(findUsage(answer, true), usageRule(quirks)) });
  // The one that was mended: other hosts' words for it are known there.
  const said = typeof whole.finish_reason === 'string' ? whole.finish_reason : null;
  deltas.finish(finishReasonOf(said ?? (state.calls.length > 0 ? 'tool_calls' : 'stop')), said);
}

/** Each call of a whole response is one of its own, whatever its id; without a number it could be a fragment of another. */
function numberCalls({ message }: Members): void {
  if (!isObject(message)) return;
  objectsIn(message.tool_calls).forEach((call, index) => {
    call.index = index;
  });
}
