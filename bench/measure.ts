import { Child, OTHER_CORE } from './child.ts';
import type { Contender } from './contenders.ts';
import type { Slice, SliceResult } from './load.ts';
import { requestBody, type Shape } from './traffic.ts';

/** The core that is not measured: the load generator and the upstream run on it. */
export interface Surroundings {
  readonly upstream: Child;
  readonly load: Child;
  readonly keys: readonly string[];
  readonly connections: number;
}

export interface Figures {
  readonly answered: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the contender's process, for one request. */
  readonly cpuMicros: number;
  /** How much of its core the contender had, 0 to 1: if it is well below 1, others ran there too, or it waited for the disk. */
  readonly ownCoreBusy: number;
  /** How busy load and upstream kept their core, 0 to 1: if it is near 1, they were the bottleneck. */
  readonly otherCoreBusy: number;
}

export async function startLoad(core: number | null = OTHER_CORE): Promise<Child> {
  return (await Child.ready(core, 'load.ts', {})).child;
}

export async function measure(
  around: Surroundings,
  contender: Contender,
  shape: Shape,
  seconds: number,
): Promise<Figures> {
  const { upstream, load, connections } = around;
  const { port, model, headers, keys = around.keys } = contender;
  const body = requestBody(model, shape);
  const slice: Slice = { port, path: '/v1/chat/completions', headers, body, keys, connections, seconds };
  const otherBefore = upstream.cpuMs() + load.cpuMs();
  const cpuBefore = contender.child.cpuMs();
  const result = await load.ask<SliceResult>(slice, seconds * 1000 + 60_000);
  const cpuMs = contender.child.cpuMs() - cpuBefore;
  const otherMs = upstream.cpuMs() + load.cpuMs() - otherBefore;
  if (result.failed > 0 || result.answered === 0 || result.firstFailure !== null) {
    throw new Error(`${contender.name}, ${shape}: ${result.failed} failed, the first: ${result.firstFailure}`);
  }
  return {
    answered: result.answered,
    perSecond: result.answered / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMicros: (cpuMs * 1000) / result.answered,
    ownCoreBusy: cpuMs / (result.seconds * 1000),
    otherCoreBusy: otherMs / (result.seconds * 1000),
  };
}

/** How long every thread of a contender is warmed up. */
interface WarmUp {
  readonly calls: number;
  readonly seconds: number;
}

/**
 * Runs for as long for every thread, until V8 has optimised the code; returns the number of calls answered by each contender.
 * They take turns: one that were warmed up alone would then be idle while the others are, and V8 drops code of idle processes.
 */
export async function warmUp(
  around: Surroundings,
  contenders: readonly Contender[],
  shapes: readonly Shape[],
  terms: WarmUp,
): Promise<Map<Contender, number>> {
  const warming = shapes.flatMap((shape) => contenders.map((contender) => ({ contender, shape, answered: 0 })));
  const slicesMax = Math.max(...contenders.map(({ workers = 1 }) => workers)) * (terms.seconds + WARM_UP_SLICES_MORE);
  for (let slice = 0; slice < slicesMax; slice++) {
    for (const row of warming.filter(({ contender, answered }) => isCold(contender, answered, slice, terms))) {
      row.answered += (await measure(around, row.contender, row.shape, WARM_UP_SLICE_SECONDS)).answered;
    }
  }
  const answeredBy = (contender: Contender): number =>
    warming.filter((row) => row.contender === contender).reduce((sum, { answered }) => sum + answered, 0);
  return new Map(contenders.map((contender) => [contender, answeredBy(contender)]));
}

function isCold({ workers = 1 }: Contender, answered: number, slices: number, { calls, seconds }: WarmUp): boolean {
  if (slices < workers * seconds) return true;
  return answered < workers * calls && slices < workers * (seconds + WARM_UP_SLICES_MORE);
}

const WARM_UP_SLICE_SECONDS = 1;
const WARM_UP_SLICES_MORE = 8;
export const WARM_UP_SECONDS = 12;

/** Checks one answer in detail: figures of wrong answers are worthless. */
export async function checkAnswer(contender: Contender, shape: Shape, key: string, chunks: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${contender.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...contender.headers },
    body: requestBody(contender.model, shape),
  });
  const text = await response.text();
  const contentFrames = text.split('"content":" token ').length - 1;
  const isRight =
    shape === 'buffered'
      ? text.includes('"prompt_tokens":460') && text.includes('quick brown fox')
      : contentFrames === chunks && text.includes('"prompt_tokens":460') && text.endsWith('data: [DONE]\n\n');
  if (response.status !== 200 || !isRight) {
    throw new Error(`${contender.name}, ${shape}: the answer is wrong (${response.status}):\n${text.slice(0, 2000)}`);
  }
}
