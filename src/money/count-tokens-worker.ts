import { parentPort } from 'node:worker_threads';
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { LIMITS } from '../limits.ts';
import { CountMemory, type Measures } from './count-memory.ts';
import { CountQueue, type QueuedJob } from './count-queue.ts';
import { type CountTerms, countPrompt, type PromptCount } from './counted-bound.ts';
import type { Encoding } from './encoding.ts';
import { type KnownTokenizer, measureExactly, measureRuns, type Steps, toolRenderings } from './measure-text.ts';

export interface CountRequest {
  readonly id: number;
  /** Accounts take turns, and so do the owners of one account. */
  readonly owner: string;
  /** Counts are remembered per account. */
  readonly account: string;
  readonly encoding: Encoding;
  readonly terms: CountTerms;
  readonly texts: readonly string[];
  readonly toolTexts: readonly string[];
}

/** Ends a request early; it is answered with null. */
export interface CountCancellation {
  readonly cancel: number;
}

export interface CountAnswer {
  readonly id: number;
  /** Null if no count was possible. */
  readonly count: PromptCount | null;
}

interface Job extends QueuedJob {
  readonly steps: Steps<PromptCount>;
}

/** Hosts treat such names in a caller's text as plain text, and so does the count. */
const SPECIAL_TOKENS_ARE_TEXT = { disallowedSpecial: new Set<string>() };

const ENCODINGS = {
  o200k_base: { pieces: O200K_TOKEN_SPLIT_REGEX, load: () => import('gpt-tokenizer/encoding/o200k_base') },
  cl100k_base: { pieces: CL100K_TOKEN_SPLIT_REGEX, load: () => import('gpt-tokenizer/encoding/cl100k_base') },
};

const tokenizers = new Map<Encoding, Promise<KnownTokenizer>>();
const memory = new CountMemory();
const queue = new CountQueue<Job>();
/** Requests that wait for their tokenizer. */
const loading = new Set<number>();
let isRunning = false;

parentPort?.on('message', (message: CountRequest | CountCancellation) => {
  if ('cancel' in message) cancel(message.cancel);
  else {
    loading.add(message.id);
    tokenizerOf(message.encoding).then(
      (tokenizer) => enqueue(message, tokenizer),
      () => loading.delete(message.id) && answer(message.id, null),
    );
  }
});

/** A count that is no longer wanted leaves at once, and is answered with null. */
function cancel(id: number): void {
  if (loading.delete(id) || queue.remove(id)) answer(id, null);
}

async function loadTokenizer(encoding: Encoding): Promise<KnownTokenizer> {
  const { pieces, load } = ENCODINGS[encoding];
  const { countTokens } = await load();
  return { pieces, countTokens: (text) => countTokens(text, SPECIAL_TOKENS_ARE_TEXT) };
}

function tokenizerOf(encoding: Encoding): Promise<KnownTokenizer> {
  const known = tokenizers.get(encoding) ?? loadTokenizer(encoding);
  tokenizers.set(encoding, known);
  return known;
}

function enqueue(request: CountRequest, tokenizer: KnownTokenizer): void {
  const { id, account, owner } = request;
  if (!loading.delete(id)) return;
  queue.add({ id, account, owner, steps: countSteps(request, tokenizer) });
  if (isRunning) return;
  isRunning = true;
  setImmediate(turn);
}

/** One step, then other messages get their turn. */
function turn(): void {
  isRunning = queue.turn(({ id, steps }) => {
    try {
      const { done, value } = steps.next();
      return done === true && answer(id, value);
    } catch {
      return answer(id, null);
    }
  });
  if (isRunning) setImmediate(turn);
}

function answer(id: number, count: PromptCount | null): true {
  parentPort?.postMessage({ id, count } satisfies CountAnswer);
  return true;
}

function* countSteps({ account, encoding, terms, texts, toolTexts }: CountRequest, tokenizer: KnownTokenizer) {
  const measure = terms.exact ? measureExactly : measureRuns;
  const kind = `${encoding} ${terms.exact ? 'whole' : 'runs'}`;
  let sinceStep = 0;
  const measured: Measures[] = [];
  const parts = [
    ...texts.map((text) => ({ text, isTool: false })),
    ...toolTexts.map((text) => ({ text, isTool: true })),
  ];
  for (const { text, isTool } of parts) {
    const isShort = text.length < LIMITS.tokenCountKeptCharsMin;
    const digest = isShort ? '' : memory.digest(`${kind} ${isTool}`, account, text);
    let measures = isShort ? undefined : memory.find(account, digest);
    if (measures === undefined) {
      measures = yield* measureAll(isTool ? toolRenderings(text) : [text], measure, tokenizer);
      if (!isShort) memory.keep(account, digest, measures);
    }
    measured.push(measures);
    sinceStep += text.length;
    if (sinceStep < LIMITS.tokenCountSliceChars) continue;
    sinceStep = 0;
    yield;
  }
  const wholes = measured.slice(0, texts.length).map(([whole]) => whole!);
  return countPrompt(wholes, measured.slice(texts.length), terms);
}

function* measureAll(
  texts: readonly string[],
  measure: typeof measureRuns,
  tokenizer: KnownTokenizer,
): Steps<Measures> {
  const measures = [];
  for (const text of texts) measures.push(yield* measure(text, tokenizer));
  return measures;
}
