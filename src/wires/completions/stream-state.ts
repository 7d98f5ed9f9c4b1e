import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { LIMITS } from '../../limits.ts';
import type { Bill } from '../bill.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isAbsent, isCount, isObject, type Members } from '../fields/members.ts';
import { countTextInputs } from '../fields/text-inputs.ts';
import type { PassedFrames } from '../frames/passed-frames.ts';
import { RepeatedFrames } from '../frames/repeated-frames.ts';
import { type UsageRule, usageRule } from '../usage/inclusive-usage.ts';
import { laterReading } from '../usage/later-reading.ts';
import { readPromptUsage, writePromptUsage } from '../usage/prompt-usage.ts';
import type { HostError, RelayTerms } from '../wire.ts';
import { wordsOf } from './mend-choice.ts';

/** The state of one stream: identity, usage, ending; and how the stream is closed. */
export class StreamState {
  protected readonly terms: RelayTerms;
  relayedBytes = 0;
  terminal = false;
  error: HostError | null = null;
  /** Null if every frame is parsed. */
  protected readonly known: RepeatedFrames | null;
  readonly #usageRule: UsageRule;
  /** Indexes of choices, in the order of their first frames. */
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();
  #id: string | null = null;
  #createdS: number | null = null;
  #rawUsage: unknown = null;
  #reading: UsageReading = MISSING_USAGE;
  /** No text came after that usage. */
  #isUsageLast = false;
  #isUsageInError = false;

  constructor(terms: RelayTerms) {
    this.terms = terms;
    this.known = terms.parseEveryFrame === true ? null : new RepeatedFrames(wordsOf);
    this.#usageRule = usageRule(terms.quirks);
  }

  get usage(): UsageReading {
    const reading = this.#reading;
    return reading.state !== 'reported' || this.#isUsageFinal() ? reading : { state: 'partial', usage: reading.usage };
  }

  /** True if every requested choice has finished, even if no terminator came. */
  get mayEndHere(): boolean {
    return this.#finished.size === this.#begun.size && this.#finished.size >= answersIn(this.terms.request);
  }

  repeated(bytes: Buffer, from: number): PassedFrames | null {
    const run = this.terminal ? null : (this.known?.find(bytes, from) ?? null);
    if (run !== null) this.noteWords(run.wordBytes);
    return run;
  }

  closing({ usage }: Bill): string {
    let text = '';
    for (const index of this.#begun) if (!this.#finished.has(index)) text += this.#finishText(index);
    if (this.terms.wantsUsageFrame) {
      text += this.#chunkText('[]', `,"usage":${JSON.stringify(writePromptUsage(usage, this.#rawUsage))}`);
    }
    return `${text}data: [DONE]\n\n`;
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

  /** Gives all chunks the first usable id and creation time. */
  protected mendIdentity(chunk: Members): boolean {
    this.#id ??= isUsableId(chunk.id) ? chunk.id : this.#ownId();
    this.#createdS ??= isTime(chunk.created) ? chunk.created : this.terms.createdS;
    const isRight = chunk.id === this.#id && chunk.created === this.#createdS && chunk.object === 'text_completion';
    if (isRight) return false;
    chunk.id = this.#id;
    chunk.created = this.#createdS;
    chunk.object = 'text_completion';
    return true;
  }

  /** Records the usage in a chunk. The last one counts: hosts that repeat usage send running totals. */
  protected noteUsage(chunk: Members): boolean {
    const raw = chunk.usage;
    if (isAbsent(raw)) return false;
    this.#rawUsage = raw;
    this.#reading = laterReading(this.#reading, readPromptUsage(raw, this.#usageRule));
    this.#isUsageLast = true;
    return true;
  }

  /** Records text that was sent to the client; usage that came before does not include it. */
  protected noteWords(bytes: number): void {
    if (bytes === 0) return;
    this.relayedBytes += bytes;
    this.#isUsageLast = false;
  }

  /** The terminator came. Without any choice before it, the stream has failed. */
  protected noteEnd(): null {
    this.terminal = true;
    if (this.#begun.size === 0) this.fail('the host ended its stream without a response');
    return null;
  }

  /** The host sent an error, or the stream is broken. */
  protected fail(error: unknown, chunk: Members = {}): null {
    this.#isUsageInError = this.noteUsage(chunk);
    this.error = readErrorMember(error);
    this.terminal = true;
    return null;
  }

  #isUsageFinal(): boolean {
    if (this.error !== null) return this.#isUsageInError;
    return this.#isUsageLast && (this.terminal || this.mayEndHere);
  }

  #chunkText(choices: string, extra: string): string {
    const { catalogModel, createdS } = this.terms;
    const id = JSON.stringify(this.#id ?? this.#ownId());
    const created = this.#createdS ?? createdS;
    return `data: {"id":${id},"object":"text_completion","created":${created},"model":${JSON.stringify(catalogModel)},"choices":${choices}${extra}}\n\n`;
  }

  #ownId(): string {
    return `cmpl-${this.terms.requestId}`;
  }

  /** Clients need a finish reason for every choice, so a missing one is added. */
  #finishText(index: number): string {
    const usage = this.terms.wantsUsageFrame ? ',"usage":null' : '';
    return this.#chunkText(`[{"text":"","index":${index},"logprobs":null,"finish_reason":"stop"}]`, usage);
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

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
