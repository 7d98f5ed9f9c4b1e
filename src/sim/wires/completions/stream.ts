import { LIMITS } from '../../../limits.ts';
import { interleave } from '../../interleave.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { frameOf } from '../../sse.ts';
import { splitTokens } from '../../tokens.ts';
import { placeUsage, type UsagePlacement } from '../../usage-fault.ts';
import { errorJson, usualError } from '../errors.ts';
import type { Completion, Completions } from './answers.ts';
import { openCompletion } from './buffered.ts';
import { type Stretch, writeLogprobs } from './logprobs.ts';
import type { CompletionsRequest } from './request.ts';
import { writeUsage } from './usage.ts';

const TOKENS_PER_CHUNK = 4;

/** One step of one choice; only its last has a finish reason. */
interface Step extends Stretch {
  readonly index: number;
  readonly outputTokens: number;
  finish: string | null;
}

/** The answers as server-sent events; a chunk looks like a whole answer. */
export function writeChunks(
  request: CompletionsRequest,
  completions: Completions,
  script: SimScript,
  host: SimHost,
): string[] {
  const writer = new ChunkWriter(request, completions.promptTokens, script, host);
  const frames: string[] = [];
  const choices = completions.shown.map((completion, index) => stepsOf(completion, index, request, script));
  for (const step of interleave(choices)) {
    if (frames.length === script.errorAfterChunks) break;
    frames.push(writer.writeStep(step));
  }
  if (script.errorAfterChunks !== undefined) return [...frames, writer.writeError()];
  const last = writer.writeLast();
  if (last !== null) frames.push(last);
  if (!script.omitDone) frames.push(frameOf('[DONE]'));
  return frames;
}

class ChunkWriter {
  readonly #request: CompletionsRequest;
  readonly #promptTokens: number;
  readonly #script: SimScript;
  readonly #placement: UsagePlacement;
  readonly #opening: string;
  #outputTokens = 0;
  #earlyUsageGiven = false;

  constructor(request: CompletionsRequest, promptTokens: number, script: SimScript, host: SimHost) {
    this.#request = request;
    this.#promptTokens = promptTokens;
    this.#script = script;
    this.#placement = placeUsage(request.includeUsage, script.usage);
    this.#opening = `${openCompletion(request, host)}"choices":[`;
  }

  writeStep(step: Step): string {
    this.#outputTokens += step.outputTokens;
    return frameOf(
      `${this.#opening}{"text":${JSON.stringify(step.text)},"index":${step.index},` +
        `"logprobs":${writeLogprobs([step], this.#request.logprobs)},"finish_reason":${JSON.stringify(step.finish)}}]` +
        `${this.#usageMember()}}`,
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
    const { onEveryChunk, onFirstContent, elsewhere } = this.#placement;
    const isFirstContent = onFirstContent && !this.#earlyUsageGiven && this.#outputTokens > 0;
    this.#earlyUsageGiven ||= isFirstContent;
    return onEveryChunk || isFirstContent ? `,"usage":${this.#usageSoFar()}` : elsewhere;
  }

  #usageSoFar(): string {
    return writeUsage(this.#promptTokens, this.#outputTokens, this.#script.usage);
  }
}

function stepsOf({ prompt, said, finish }: Completion, index: number, request: CompletionsRequest, script: SimScript) {
  const perChunk = script.tokensPerChunk ?? TOKENS_PER_CHUNK;
  const steps: Step[] = [];
  if (request.echo) steps.push({ index, text: prompt.text, offset: 0, outputTokens: 0, finish: null });
  let offset = prompt.text.length;
  for (const { text, tokens } of splitTokens(said, perChunk)) {
    steps.push({ index, text, offset, outputTokens: tokens, finish: null });
    offset += text.length;
  }
  if (steps.length === 0) steps.push({ index, text: '', offset, outputTokens: 0, finish: null });
  steps.at(-1)!.finish = script.omitFinish ? null : finish;
  return steps;
}

/** A stream that never finishes, up to the simulator's own limit. */
export function* writeEndlessChunks(request: CompletionsRequest, script: SimScript, host: SimHost): Iterable<string> {
  const writer = new ChunkWriter(request, 0, script, host);
  const step = { index: 0, text: ' and so it goes on', offset: 0, outputTokens: 5, finish: null };
  const frame = writer.writeStep(step);
  for (let chunk = 0; chunk < LIMITS.simEndlessChunksMax; chunk++) yield frame;
}
