import { ENDLESS_TEXT, endlessBody } from '../../endless.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { isWithheld } from '../../usage-fault.ts';
import type { Completion, Completions } from './answers.ts';
import { stretchesOf, writeLogprobs } from './logprobs.ts';
import type { CompletionsRequest } from './request.ts';
import { writeUsage } from './usage.ts';

/** The answers as one JSON body. */
export function writeCompletions(
  request: CompletionsRequest,
  { shown, promptTokens, outputTokens }: Completions,
  script: SimScript,
  host: SimHost,
): string {
  const choices = shown.map((completion, index) => writeChoice(completion, index, request, script));
  const usage = isWithheld(script.usage) ? '' : `,"usage":${writeUsage(promptTokens, outputTokens, script.usage)}`;
  return `${openCompletion(request, host)}"choices":[${choices.join(',')}]${usage}}`;
}

export function openCompletion({ model }: CompletionsRequest, host: SimHost): string {
  return (
    `{"id":"${host.mintId('cmpl-')}","object":"text_completion","created":${host.nowSeconds()},` +
    `"model":${JSON.stringify(model)},`
  );
}

function writeChoice(completion: Completion, index: number, request: CompletionsRequest, script: SimScript): string {
  const stretches = stretchesOf(completion, request);
  const text = stretches.map((stretch) => stretch.text).join('');
  const finish = script.omitFinish ? null : completion.finish;
  return (
    `{"text":${JSON.stringify(text)},"index":${index},` +
    `"logprobs":${writeLogprobs(stretches, request.logprobs)},"finish_reason":${JSON.stringify(finish)}}`
  );
}

export function writeEndlessCompletion(request: CompletionsRequest, host: SimHost): Iterable<string> {
  return endlessBody(`${openCompletion(request, host)}"choices":[{"index":0,"text":"`, ENDLESS_TEXT);
}
