import type { Choice } from '../../answer.ts';
import { ENDLESS_TEXT, endlessBody } from '../../endless.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { isWithheld } from '../../usage-fault.ts';
import { composeContent } from './content.ts';
import type { MessagesRequest } from './request.ts';
import { type AskedTokens, writeUsage } from './usage.ts';

/** Everything needed to write a message or its stream. */
export interface Spoken {
  readonly request: MessagesRequest;
  readonly asked: AskedTokens;
  readonly choice: Choice;
  /** The window, not the caller's limit, ended the answer. */
  readonly windowIsFull: boolean;
}

/** The answer as one JSON body. */
export function writeMessage({ request, asked, choice, ...rest }: Spoken, script: SimScript, host: SimHost): string {
  const content = composeContent(choice, request, script, host).map((block) => block.whole);
  const ending = stopMembers({ request, asked, choice, ...rest }, script);
  const usage = isWithheld(script.usage) ? '' : `,"usage":${writeUsage(asked, choice, script.usage)}`;
  return `${openMessage(request, host)}${JSON.stringify(content)},${ending}${usage}}`;
}

export function openMessage(request: MessagesRequest, host: SimHost): string {
  const model = JSON.stringify(request.prompt.model);
  return `{"model":${model},"id":"${host.mintId('msg_')}","type":"message","role":"assistant","content":`;
}

/** Why the answer ended, in the vendor's three members. */
export function stopMembers(spoken: Spoken, script: SimScript): string {
  const { choice } = spoken;
  const reason = script.omitFinish ? null : (script.finish ?? stopReason(spoken));
  const stop = reason === 'stop_sequence' ? choice.stop : null;
  const details = choice.refused ? { type: 'refusal', category: null, explanation: choice.text } : null;
  return (
    `"stop_reason":${JSON.stringify(reason)},"stop_sequence":${JSON.stringify(stop)},` +
    `"stop_details":${JSON.stringify(details)}`
  );
}

function stopReason({ choice, windowIsFull }: Spoken): string {
  if (choice.finish === 'length') return windowIsFull ? 'model_context_window_exceeded' : 'max_tokens';
  if (choice.refused) return 'refusal';
  if (choice.finish === 'tool_calls') return 'tool_use';
  return choice.stop === null ? 'end_turn' : 'stop_sequence';
}

export function writeEndlessMessage(request: MessagesRequest, host: SimHost): Iterable<string> {
  return endlessBody(`${openMessage(request, host)}[{"type":"text","text":"`, ENDLESS_TEXT);
}
