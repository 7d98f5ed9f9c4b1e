import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import type { Bill } from '../bill.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isAbsent, type Members } from '../fields/members.ts';
import { StreamMemory } from '../frames/frame-memory.ts';
import { identityOf, type StreamIdentity } from '../frames/frame-pattern.ts';
import type { PassedFrames } from '../frames/passed-frames.ts';
import { RepeatedFrames } from '../frames/repeated-frames.ts';
import { type UsageRule, usageRule } from '../usage/inclusive-usage.ts';
import { laterReading } from '../usage/later-reading.ts';
import { readPromptUsage, writePromptUsage } from '../usage/prompt-usage.ts';
import type { HostError, RelayTerms } from '../wire.ts';
import { wordsOf } from './delta-text.ts';
import { isLearnable } from './learnable-frame.ts';
import { type ChoiceState, newChoice } from './mend-choice.ts';
import { findUsage } from './quirks.ts';

/** The state of one stream: identity, usage, ending; and how the stream is closed. */
export class StreamState {
  readonly terms: RelayTerms;
  /** In the order of their first frames. */
  readonly choices: ChoiceState[] = [];
  relayedBytes = 0;
  terminal = false;
  error: HostError | null = null;
  /** Null if every frame is parsed. */
  protected readonly known: RepeatedFrames | null;
  readonly #usageRule: UsageRule;
  #id: string | null = null;
  #createdS: number | null = null;
  #rawUsage: unknown = null;
  #reading: UsageReading = MISSING_USAGE;
  /** No text came after that usage. */
  #isUsageLast = false;
  #isUsageInError = false;
  /** Both are created on first use; null if there is no memory, or the id needs escapes. */
  #identity: StreamIdentity | null | undefined;
  #streamMemory: StreamMemory | null | undefined;

  constructor(terms: RelayTerms) {
    this.terms = terms;
    this.known = terms.parseEveryFrame === true ? null : new RepeatedFrames(wordsOf);
    this.#usageRule = usageRule(terms.quirks);
  }

  get usage(): UsageReading {
    const reading = this.#reading;
    return reading.state !== 'reported' || this.#isUsageFinal() ? reading : { state: 'partial', usage: reading.usage };
  }

  /** True if every choice has finished, even if no terminator came. */
  get mayEndHere(): boolean {
    return this.choices.length > 0 && this.choices.every((choice) => choice.finished);
  }

  repeated(bytes: Buffer, from: number): PassedFrames | null {
    if (this.terminal || this.known === null) return null;
    const run = this.known.find(bytes, from);
    if (run === null) return this.terms.memory === undefined ? null : this.#remembered(this.known, bytes, from);
    this.noteWords(run.wordBytes);
    return run;
  }

  closing({ usage }: Bill): string {
    let text = '';
    for (const choice of this.choices) if (!choice.finished) text += this.#finishText(choice);
    if (this.terms.wantsUsageFrame) {
      text += this.#chunkText('[]', `,"usage":${JSON.stringify(writePromptUsage(usage, this.#rawUsage))}`);
    }
    return `${text}data: [DONE]\n\n`;
  }

  /** There is one choice, without tool calls and not finished. In this state equal frames mean the same in every stream. */
  protected get isOpen(): boolean {
    return this.#hasOnlyTextChoice() && !this.choices[0]!.finished;
  }

  /** Learns from a frame with text, for this stream and for later ones. */
  protected learn(frame: SseFrame, written: string | null, delta: Members): void {
    const shape = this.known?.learn(frame.raw, written, delta) ?? null;
    if (shape === null || !this.isOpen) return;
    const identity = this.#identityToLearn(frame, true);
    if (identity !== null) this.terms.memory!.learnWords(shape, identity);
  }

  /** Learns for later streams from a first frame without text. */
  protected learnOpening(frame: SseFrame, written: string | null): void {
    if (!this.isOpen) return;
    const identity = this.#identityToLearn(frame, false);
    if (identity !== null) this.terms.memory!.learnOpening(frame.raw, written, identity);
  }

  /** Learns for later streams from a frame without text that finished the only choice. */
  protected learnEnd(frame: SseFrame, written: string | null): void {
    if (this.isOpen || !this.#hasOnlyTextChoice()) return;
    const identity = this.#identityToLearn(frame, false);
    if (identity !== null) this.terms.memory!.learnEnd(frame.raw, written, identity);
  }

  /** How many choices and tool calls have begun. */
  protected get begun(): number {
    let begun = 0;
    for (const { calls } of this.choices) begun += 1 + calls.length;
    return begun;
  }

  /** The state of a choice; an unusable index counts as 0. */
  protected choiceAt(said: unknown): ChoiceState {
    const first = this.choices[0];
    const index = isChoiceIndex(said) ? said : 0;
    if (first?.index === index) return first;
    const seen = this.choices.find((choice) => choice.index === index);
    if (seen !== undefined) return seen;
    const choice = newChoice(index);
    this.choices.push(choice);
    return choice;
  }

  /** Gives all chunks the first usable id and creation time; some hosts change them or leave them out. */
  protected mendIdentity(chunk: Members): boolean {
    this.#id ??= isUsableId(chunk.id) ? chunk.id : this.#ownId();
    this.#createdS ??= isUsableTime(chunk.created) ? chunk.created : this.terms.createdS;
    const isRight =
      chunk.id === this.#id && chunk.created === this.#createdS && chunk.object === 'chat.completion.chunk';
    if (isRight) return false;
    chunk.id = this.#id;
    chunk.created = this.#createdS;
    chunk.object = 'chat.completion.chunk';
    return true;
  }

  /** Records the usage in a chunk. The last one counts: hosts that repeat usage send running totals. */
  protected noteUsage(chunk: Members): boolean {
    const raw = findUsage(chunk, this.choices.length === 1);
    if (isAbsent(raw)) return false;
    this.#rawUsage = raw;
    this.#reading = laterReading(this.#reading, readPromptUsage(raw, this.#usageRule));
    this.#isUsageLast = true;
    return true;
  }

  /** Records text that was sent to the client; usage that came before does not include it. */
  protected noteWords(bytes: number): void {
    this.relayedBytes += bytes;
    this.#isUsageLast = false;
  }

  /** The terminator came. Without any choice before it, the stream has failed. */
  protected noteEnd(): null {
    this.terminal = true;
    if (this.choices.length === 0) this.fail('the host ended its stream without a response');
    return null;
  }

  /** The host sent an error, or the stream is broken. */
  protected fail(error: unknown, chunk: Members = {}): null {
    this.#isUsageInError = this.noteUsage(chunk);
    this.error = readErrorMember(error);
    this.terminal = true;
    return null;
  }

  #hasOnlyTextChoice(): boolean {
    const { choices } = this;
    return choices.length === 1 && choices[0]!.index === 0 && choices[0]!.calls.length === 0;
  }

  #remembered(known: RepeatedFrames, bytes: Buffer, from: number): PassedFrames | null {
    if (this.isOpen) return this.#recallWords(known, bytes, from);
    return this.#id === null ? this.#beginRemembered(bytes, from) : null;
  }

  #beginRemembered(bytes: Buffer, from: number): PassedFrames | null {
    const opening = this.terms.memory!.opening(bytes, from);
    if (opening === null || !isUsableId(opening.identity.id)) return null;
    this.#identity = opening.identity;
    this.#id = opening.identity.id;
    this.#createdS = Number(opening.identity.created);
    this.choices.push({ ...newChoice(0), roleSent: true });
    return opening.passed;
  }

  #recallWords(known: RepeatedFrames, bytes: Buffer, from: number): PassedFrames | null {
    if (this.#streamMemory === undefined) this.#streamMemory = this.#openMemory();
    const run = this.#streamMemory?.words(known, bytes, from) ?? null;
    if (run !== null) {
      this.noteWords(run.wordBytes);
      return run;
    }
    const end = this.#streamMemory?.end(bytes, from) ?? null;
    if (end !== null) this.choices[0]!.finished = true;
    return end;
  }

  #openMemory(): StreamMemory | null {
    const identity = this.#streamIdentity();
    return identity === null ? null : new StreamMemory(this.terms.memory!, identity);
  }

  #identityToLearn(frame: SseFrame, hasWords: boolean): StreamIdentity | null {
    const { memory } = this.terms;
    const identity = memory === undefined ? null : this.#streamIdentity();
    if (identity === null || !memory!.mayLearn()) return null;
    return isLearnable(frame, identity, hasWords) ? identity : null;
  }

  /** Called only after a choice has begun, so both values are set. */
  #streamIdentity(): StreamIdentity | null {
    if (this.#identity === undefined) this.#identity = identityOf(this.#id!, this.#createdS!);
    return this.#identity;
  }

  #isUsageFinal(): boolean {
    if (this.error !== null) return this.#isUsageInError;
    return this.#isUsageLast && (this.terminal || this.mayEndHere);
  }

  #chunkText(choices: string, extra: string): string {
    const { catalogModel, createdS } = this.terms;
    const id = JSON.stringify(this.#id ?? this.#ownId());
    const model = JSON.stringify(catalogModel);
    const created = this.#createdS ?? createdS;
    return `data: {"id":${id},"object":"chat.completion.chunk","created":${created},"model":${model},"choices":${choices}${extra}}\n\n`;
  }

  #ownId(): string {
    return `chatcmpl-${this.terms.requestId}`;
  }

  /** SDKs need a finish reason for every choice, so a missing one is added. */
  #finishText({ index, calls }: ChoiceState): string {
    const reason = calls.length > 0 ? 'tool_calls' : 'stop';
    return this.#chunkText(`[{"index":${index},"delta":{},"logprobs":null,"finish_reason":"${reason}"}]`, '');
  }
}

function isChoiceIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < LIMITS.answersPerCallMax;
}

function isUsableTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
