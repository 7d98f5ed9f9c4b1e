import { type Choice, composeAnswer } from '../../answer.ts';
import { type Prompt, windowOf } from '../../prompt.ts';
import { refuse } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import type { CompletionPrompt, CompletionsRequest } from './request.ts';

/** One answer to one prompt. */
export interface Completion {
  readonly prompt: CompletionPrompt;
  readonly said: string;
  readonly finish: string;
}

export interface Completions {
  /** In the vendor's order: all answers to the first prompt, then to the second. */
  readonly shown: readonly Completion[];
  readonly promptTokens: number;
  /** Answers that were generated but not returned are billed too. */
  readonly outputTokens: number;
}

export function composeCompletions(request: CompletionsRequest, script: SimScript): Completions {
  const shown: Completion[] = [];
  let promptTokens = 0;
  let outputTokens = 0;
  for (const prompt of request.prompts) {
    const choices = answersTo(prompt, request, script);
    promptTokens += prompt.tokens;
    for (const choice of choices) outputTokens += choice.outputTokens;
    for (const choice of choices.slice(0, request.choices)) {
      shown.push({ prompt, said: choice.text ?? '', finish: finishOf(choice, script) });
    }
  }
  return { shown, promptTokens, outputTokens };
}

function answersTo(
  { text, tokens }: CompletionPrompt,
  request: CompletionsRequest,
  script: SimScript,
): readonly Choice[] {
  const { model, outputTokensMax, stops, written } = request;
  checkWindow(model, tokens, outputTokensMax);
  const prompt: Prompt = {
    model,
    messages: [{ role: 'user', text, images: [], toolCalls: [], toolCallId: null }],
    tools: [],
    toolChoice: 'none',
    parallelTools: false,
    effort: 'none',
    outputTokensMax,
    stops,
    format: { kind: 'text' },
  };
  return composeAnswer(prompt, script, written, { promptTokens: tokens, cachedTokens: 0, cacheWriteTokens: 0 }).choices;
}

function checkWindow(model: string, promptTokens: number, outputTokensMax: number): void {
  const windowTokens = windowOf(model);
  if (promptTokens <= windowTokens) return;
  const message =
    `This model's maximum context length is ${windowTokens} tokens, however you requested ` +
    `${promptTokens + outputTokensMax} tokens (${promptTokens} in your prompt; ${outputTokensMax} for the completion). ` +
    'Please reduce your prompt; or completion length.';
  refuse('context_length_exceeded', 'prompt', message);
}

function finishOf(choice: Choice, script: SimScript): string {
  return script.finish ?? (choice.refused ? 'content_filter' : choice.finish);
}
