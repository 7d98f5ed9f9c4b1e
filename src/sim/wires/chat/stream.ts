import { LIMITS } from '../../../limits.ts';
import { type Answer, CALL_OPENING_TOKENS, type Choice, type Usage } from '../../answer.ts';
import { interleave } from '../../interleave.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { frameOf } from '../../sse.ts';
import { splitTokens } from '../../tokens.ts';
import { placeUsage, type UsagePlacement } from '../../usage-fault.ts';
import { errorJson, usualError } from '../errors.ts';
import { writeLogprobs } from './logprobs.ts';
import type { ChatRequest } from './request.ts';
import { writeUsage } from './usage.ts';

const TOKENS_PER_CHUNK = 4;

/** One step of one choice: the content of its chunk and the tokens it used. */
interface Step {
  readonly index: number;
  readonly delta: string;
  readonly logprobs: string;
  readonly finish: string;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** The answer as server-sent events. */
export function writeChunks(request: ChatRequest, answer: Answer, script: SimScript, host: SimHost): string[] {
  const writer = new ChunkWriter(request, answer.usage, script, host);
  const frames: string[] = [];
  for (const step of interleave(answer.choices.map((choice, index) => stepsOf(choice, index, request, script, host)))) {
    if (frames.length === script.errorAfterChunks) break;
    frames.push(writer.writeStep(step));
  }
  if (script.errorAfterChunks !== undefined) return [...frames, writer.writeError()];
  const last = writer.writeLast();
  if (last !== null) frames.push(last);
  if (!script.omitDone) frames.push(frameOf('[DONE]'));
  return frames;
}

/** A stream that never finishes, up to the simulator's own limit. */
export function* writeEndlessChunks(request: ChatRequest, script: SimScript, host: SimHost): Iterable<string> {
  const nothing = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  const writer = new ChunkWriter(request, nothing, script, host);
  yield writer.writeStep(plainStep(0, OPENING_TEXT, 0));
  const frame = writer.writeStep(plainStep(0, '{"content":" and so it goes on"}', 5));
  for (let chunk = 0; chunk < LIMITS.simEndlessChunksMax; chunk++) yield frame;
}

class ChunkWriter {
  readonly #usage: Usage;
  readonly #script: SimScript;
  readonly #placement: UsagePlacement;
  readonly #opening: string;
  #outputTokens = 0;
  #reasoningTokens = 0;
  #earlyUsageGiven = false;

  constructor(request: ChatRequest, usage: Usage, script: SimScript, host: SimHost) {
    this.#usage = usage;
    this.#script = script;
    this.#placement = placeUsage(request.includeUsage, script.usage);
    this.#opening =
      `{"id":"${host.mintId('chatcmpl-')}","object":"chat.completion.chunk","created":${host.nowSeconds()},` +
      `"model":${JSON.stringify(request.prompt.model)},"service_tier":"default","choices":[`;
  }

  writeStep(step: Step): string {
    this.#outputTokens += step.outputTokens;
    this.#reasoningTokens += step.reasoningTokens;
    return frameOf(
      `${this.#opening}{"index":${step.index},"delta":${step.delta},"logprobs":${step.logprobs},` +
        `"finish_reason":${step.finish}}]${this.#usageMember()}}`,
    );
  }

  /** The chunk without choices that carries the usage, if one is due. */
  writeLast(): string | null {
    return this.#placement.onLastChunk ? frameOf(`${this.#opening}],"usage":${this.#usageSoFar()}}`) : null;
  }

  writeError(): string {
    const usage = this.#script.errorWithUsage ? `,"usage":${this.#usageSoFar()}` : '';
    return frameOf(`{"error":${errorJson(usualError(500))}${usage}}`);
  }

  #usageMember(): string {
    const { onEveryChunk, onFirstContent } = this.#placement;
    const isFirstContent = onFirstContent && !this.#earlyUsageGiven && this.#outputTokens > 0;
    this.#earlyUsageGiven ||= isFirstContent;
    return onEveryChunk || isFirstContent ? `,"usage":${this.#usageSoFar()}` : '';
  }

  #usageSoFar(): string {
    const soFar = { ...this.#usage, outputTokens: this.#outputTokens, reasoningTokens: this.#reasoningTokens };
    return writeUsage(soFar, this.#script.usage);
  }
}

const OPENING_TEXT = '{"role":"assistant","content":"","refusal":null}';
/** Tool calls and refusals have no content. */
const OPENING_WITHOUT_CONTENT = '{"role":"assistant","content":null}';

function plainStep(index: number, delta: string, outputTokens: number, reasoningTokens = 0): Step {
  return { index, delta, logprobs: 'null', finish: 'null', outputTokens, reasoningTokens };
}

function stepsOf(choice: Choice, index: number, request: ChatRequest, script: SimScript, host: SimHost): Step[] {
  const perChunk = script.tokensPerChunk ?? TOKENS_PER_CHUNK;
  const member = choice.refused ? 'refusal' : 'content';
  const steps = [plainStep(index, choice.text === null || choice.refused ? OPENING_WITHOUT_CONTENT : OPENING_TEXT, 0)];
  for (const { text, tokens } of splitTokens(choice.reasoning, perChunk)) {
    steps.push(plainStep(index, `{"reasoning_content":${JSON.stringify(text)}}`, tokens, tokens));
  }
  for (const { text, tokens } of splitTokens(choice.text ?? '', perChunk)) {
    const logprobs = writeLogprobs(text, request.logprobs);
    steps.push({ ...plainStep(index, `{"${member}":${JSON.stringify(text)}}`, tokens), logprobs });
  }
  addCalls(steps, choice, index, perChunk, host);
  if (!script.omitFinish) {
    steps.push({ ...plainStep(index, '{}', 0), finish: JSON.stringify(script.finish ?? choice.finish) });
  }
  return steps;
}

function addCalls(steps: Step[], choice: Choice, index: number, perChunk: number, host: SimHost): void {
  for (const [position, call] of choice.calls.entries()) {
    const opening = {
      index: position,
      id: host.mintId('call_'),
      type: 'function',
      function: { name: call.name, arguments: '' },
    };
    steps.push(plainStep(index, JSON.stringify({ tool_calls: [opening] }), CALL_OPENING_TOKENS));
    for (const { text, tokens } of splitTokens(call.arguments, perChunk)) {
      const fragment = { index: position, function: { arguments: text } };
      steps.push(plainStep(index, JSON.stringify({ tool_calls: [fragment] }), tokens));
    }
  }
}
