import { LIMITS } from '../../limits.ts';
import { isCount, isObject, type Members } from '../fields/members.ts';
import { countTextInputs } from '../fields/text-inputs.ts';
import { ChoiceStream, type ChunkKind } from '../frames/choice-stream.ts';
import type { PassedFrames } from '../frames/passed-frames.ts';
import type { RelayTerms } from '../wire.ts';
import { wordsOf } from './mend-choice.ts';

const CHUNK: ChunkKind = { object: 'text_completion', idPrefix: 'cmpl-', wordsOf };

/** The state of one stream: which choices have begun and finished. */
export class StreamState extends ChoiceStream {
  /** Indexes of choices, in the order of their first frames. */
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();

  constructor(terms: RelayTerms) {
    super(terms, CHUNK);
  }

  /** Choices that were asked for and have not begun are still missing. */
  override get mayEndHere(): boolean {
    return this.#finished.size === this.#begun.size && this.#finished.size >= answersIn(this.terms.request);
  }

  repeated(bytes: Buffer, from: number): PassedFrames | null {
    const run = this.terminal ? null : (this.known?.find(bytes, from) ?? null);
    if (run !== null) this.noteWords(run.wordBytes);
    return run;
  }

  /** Records that a choice has begun; an unusable index counts as 0. */
  protected begin(said: unknown): { index: number; isNew: boolean } {
    const index = isAnswerIndex(said) ? said : 0;
    const isNew = !this.#begun.has(index);
    if (isNew) this.#begun.add(index);
    return { index, isNew };
  }

  /** Records that a choice has finished; false if it had finished before. */
  protected finish(index: number): boolean {
    if (this.#finished.has(index)) return false;
    this.#finished.add(index);
    return true;
  }

  protected override get hasBegun(): boolean {
    return this.#begun.size > 0;
  }

  protected override usageIn({ usage }: Members): unknown {
    return usage;
  }

  protected override finishTexts(): string {
    const usage = this.terms.wantsUsageFrame ? ',"usage":null' : '';
    let text = '';
    for (const index of this.#begun) {
      const choice = `[{"text":"","index":${index},"logprobs":null,"finish_reason":"stop"}]`;
      if (!this.#finished.has(index)) text += this.chunkText(choice, usage);
    }
    return text;
  }
}

/** How many choices the request asks for; engines may send them prompt by prompt. */
function answersIn(request: unknown): number {
  const { prompt, n } = isObject(request) ? request : {};
  return countTextInputs(prompt) * (isCount(n) ? n : 1);
}

function isAnswerIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < LIMITS.completionAnswersMax;
}
