import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import type { PromptTexts } from '../canonical/prompt-size.ts';
import { LIMITS } from '../limits.ts';
import { CountMemory, type Measures } from './count-memory.ts';
import { CountQueue, type QueuedJob } from './count-queue.ts';
import { type CountTerms, countPrompt, type PromptCount } from './counted-bound.ts';
import type { Encoding } from './encoding.ts';
import { type KnownTokenizer, measureExactly, measureRuns, type Steps, toolRenderings } from './measure-text.ts';

/** Who asks for a count, and how to count. */
export interface CountOrder {
  /** Accounts take turns, and so do the owners of one account. */
  readonly owner: string;
  /** Counts are remembered per account. */
  readonly account: string;
  readonly encoding: Encoding;
  readonly terms: CountTerms;
}

interface CountTask extends CountOrder {
  readonly id: number;
  /** Called once, as a step of its own: reading a long prompt takes time too. */
  readTexts(): PromptTexts;
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

/** Counts prompts step by step: tasks take turns, and can be cancelled between two steps. */
export class CountTasks {
  readonly #tokenizers = new Map<Encoding, Promise<KnownTokenizer>>();
  readonly #memory = new CountMemory();
  readonly #queue = new CountQueue<Job>();
  /** Tasks that wait for their tokenizer. */
  readonly #loading = new Set<number>();
  readonly #answer: (id: number, count: PromptCount | null) => void;
  #isRunning = false;

  /** Every task is answered once, with null if no count was possible. */
  constructor(answer: (id: number, count: PromptCount | null) => void) {
    this.#answer = answer;
  }

  /** Texts whose counts are remembered. */
  get textsKept(): number {
    return this.#memory.size;
  }

  add(task: CountTask): void {
    this.#loading.add(task.id);
    this.#tokenizer(task.encoding).then(
      (tokenizer) => this.#enqueue(task, tokenizer),
      () => this.#loading.delete(task.id) && this.#answer(task.id, null),
    );
  }

  /** A count that is no longer wanted leaves at once, and is answered with null. */
  cancel(id: number): void {
    if (this.#loading.delete(id) || this.#queue.remove(id)) this.#answer(id, null);
  }

  #tokenizer(encoding: Encoding): Promise<KnownTokenizer> {
    const known = this.#tokenizers.get(encoding) ?? loadTokenizer(encoding);
    this.#tokenizers.set(encoding, known);
    return known;
  }

  #enqueue(task: CountTask, tokenizer: KnownTokenizer): void {
    const { id, account, owner } = task;
    if (!this.#loading.delete(id)) return;
    this.#queue.add({ id, account, owner, steps: countSteps(task, tokenizer, this.#memory) });
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#turn());
  }

  /** One step, then messages that came meanwhile are read. */
  #turn(): void {
    this.#isRunning = this.#queue.turn(({ id, steps }) => {
      let step: IteratorResult<undefined, PromptCount | null>;
      try {
        step = steps.next();
      } catch {
        step = { done: true, value: null };
      }
      if (step.done === true) this.#answer(id, step.value);
      return step.done === true;
    });
    if (this.#isRunning) setImmediate(() => this.#turn());
  }
}

async function loadTokenizer(encoding: Encoding): Promise<KnownTokenizer> {
  const { pieces, load } = ENCODINGS[encoding];
  const { countTokens, setMergeCacheSize } = await load();
  setMergeCacheSize(LIMITS.tokenMergesKept);
  return { pieces, countTokens: (text) => countTokens(text, SPECIAL_TOKENS_ARE_TEXT) };
}

function* countSteps(task: CountTask, tokenizer: KnownTokenizer, memory: CountMemory): Steps<PromptCount> {
  const { account, encoding, terms } = task;
  const { texts, toolTexts } = task.readTexts();
  yield;
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
