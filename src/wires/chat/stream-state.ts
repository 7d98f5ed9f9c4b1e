import type { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isCount, isObject, type Members } from '../fields/members.ts';
import { ChoiceStream, type ChunkKind } from '../frames/choice-stream.ts';
import { StreamMemory } from '../frames/frame-memory.ts';
import { identityOf, type StreamIdentity } from '../frames/frame-pattern.ts';
import type { PassedFrames } from '../frames/passed-frames.ts';
import type { RepeatedFrames } from '../frames/repeated-frames.ts';
import type { RelayTerms } from '../wire.ts';
import { wordsOf } from './delta-text.ts';
import { isLearnable } from './learnable-frame.ts';
import { type ChoiceState, newChoice } from './mend-choice.ts';
import { missingArguments } from './mend-tool-calls.ts';
import { findUsage } from './quirks.ts';

const CHUNK: ChunkKind = { object: 'chat.completion.chunk', idPrefix: 'chatcmpl-', wordsOf };

/** The state of one stream: its choices, and what it shares with earlier and later streams. */
export class StreamState extends ChoiceStream {
  /** In the order of their first frames. */
  readonly choices: ChoiceState[] = [];
  /** Both are created on first use; null if there is no memory, or the id needs escapes. */
  #identity: StreamIdentity | null | undefined;
  #streamMemory: StreamMemory | null | undefined;

  constructor(terms: RelayTerms) {
    super(terms, CHUNK);
  }

  /** Choices that were asked for and have not begun are still missing. */
  override get mayEndHere(): boolean {
    return this.choices.length >= answersIn(this.terms.request) && this.choices.every((choice) => choice.finished);
  }

  repeated(bytes: Buffer, from: number): PassedFrames | null {
    if (this.terminal || this.known === null) return null;
    const run = this.known.find(bytes, from);
    if (run === null) return this.terms.memory === undefined ? null : this.#remembered(this.known, bytes, from);
    this.noteWords(run.wordBytes);
    return run;
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

  #hasOnlyTextChoice(): boolean {
    const { choices } = this;
    return choices.length === 1 && choices[0]!.index === 0 && choices[0]!.calls.length === 0;
  }

  #remembered(known: RepeatedFrames, bytes: Buffer, from: number): PassedFrames | null {
    if (this.isOpen) return this.#recallWords(known, bytes, from);
    return this.id === null ? this.#beginRemembered(bytes, from) : null;
  }

  #beginRemembered(bytes: Buffer, from: number): PassedFrames | null {
    const opening = this.terms.memory!.opening(bytes, from);
    if (opening === null || !isUsableId(opening.identity.id)) return null;
    this.#identity = opening.identity;
    this.id = opening.identity.id;
    this.createdS = Number(opening.identity.created);
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
    if (this.#identity === undefined) this.#identity = identityOf(this.id!, this.createdS!);
    return this.#identity;
  }

  protected override get hasBegun(): boolean {
    return this.choices.length > 0;
  }

  protected override usageIn(chunk: Members): unknown {
    return findUsage(chunk, this.choices.length === 1);
  }

  protected override finishTexts(): string {
    let text = '';
    for (const { finished, index, calls } of this.choices) {
      const reason = calls.length > 0 ? 'tool_calls' : 'stop';
      const fragments = missingArguments(calls);
      const delta = fragments.length === 0 ? '{}' : JSON.stringify({ tool_calls: fragments });
      const choice = `[{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":"${reason}"}]`;
      if (!finished) text += this.chunkText(choice, '');
    }
    return text;
  }
}

function answersIn(request: unknown): number {
  return isObject(request) && isCount(request.n) ? Math.max(request.n, 1) : 1;
}

function isChoiceIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < LIMITS.answersPerCallMax;
}
