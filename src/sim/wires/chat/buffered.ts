import type { Answer, Choice, ToolCall } from '../../answer.ts';
import { ENDLESS_TEXT, endlessBody } from '../../endless.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { isWithheld } from '../../usage-fault.ts';
import { writeLogprobs } from './logprobs.ts';
import type { ChatRequest } from './request.ts';
import { writeUsage } from './usage.ts';

/** The answer as one JSON body. */
export function writeCompletion(request: ChatRequest, answer: Answer, script: SimScript, host: SimHost): string {
  const choices = answer.choices.map((choice, index) => writeChoice(choice, index, request, script, host));
  return `${openCompletion(request, host)}"choices":[${choices.join(',')}]${usageMember(answer, script)}}`;
}

function openCompletion(request: ChatRequest, host: SimHost): string {
  return (
    `{"id":"${host.mintId('chatcmpl-')}","object":"chat.completion","created":${host.nowSeconds()},` +
    `"model":${JSON.stringify(request.prompt.model)},"service_tier":"default","system_fingerprint":null,`
  );
}

function writeChoice(choice: Choice, index: number, request: ChatRequest, script: SimScript, host: SimHost): string {
  const finish = script.omitFinish ? 'null' : JSON.stringify(script.finish ?? choice.finish);
  const logprobs = writeLogprobs(choice.text, request.logprobs);
  return `{"index":${index},"message":${writeMessage(choice, host)},"logprobs":${logprobs},"finish_reason":${finish}}`;
}

function writeMessage(choice: Choice, host: SimHost): string {
  const said = JSON.stringify(choice.text);
  let message = choice.refused
    ? `{"role":"assistant","content":null,"refusal":${said},"annotations":[]`
    : `{"role":"assistant","content":${said},"refusal":null,"annotations":[]`;
  if (choice.reasoning !== '') message += `,"reasoning_content":${JSON.stringify(choice.reasoning)}`;
  if (choice.calls.length > 0)
    message += `,"tool_calls":[${choice.calls.map((call) => writeCall(call, host)).join(',')}]`;
  return `${message}}`;
}

function writeCall(call: ToolCall, host: SimHost): string {
  return JSON.stringify({
    id: host.mintId('call_'),
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  });
}

function usageMember(answer: Answer, script: SimScript): string {
  return isWithheld(script.usage) ? '' : `,"usage":${writeUsage(answer.usage, script.usage)}`;
}

export function writeEndlessCompletion(request: ChatRequest, host: SimHost): Iterable<string> {
  const opening = `${openCompletion(request, host)}"choices":[{"index":0,"message":{"role":"assistant","content":"`;
  return endlessBody(opening, ENDLESS_TEXT);
}
