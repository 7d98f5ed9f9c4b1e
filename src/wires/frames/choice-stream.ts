import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import type { Bill } from '../bill.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isAbsent, type Members } from '../fields/members.ts';
import { type UsageRule, usageRule } from '../usage/inclusive-usage.ts';
import { laterReading } from '../usage/later-reading.ts';
import { readPromptUsage, writePromptUsage } from '../usage/prompt-usage.ts';
import type { HostError, RelayTerms } from '../wire.ts';
import { RepeatedFrames, type WordsOf } from './repeated-frames.ts';

/** What the chunks of a wire have in common. */
export interface ChunkKind {
  readonly object: string;
  readonly idPrefix: string;
  readonly wordsOf: WordsOf;
}

/** The state of one stream of chunks with choices: identity, usage, ending; and how the stream is closed. */
export abstract class ChoiceStream {
  readonly terms: RelayTerms;
  relayedBytes = 0;
  terminal = false;
  error: HostError | null = null;
  /** Null if every frame is parsed. */
  protected readonly known: RepeatedFrames | null;
  protected id: string | null = null;
  protected createdS: number | null = null;
  readonly #kind: ChunkKind;
  readonly #usageRule: UsageRule;
  #rawUsage: unknown = null;
  #reading: UsageReading = MISSING_USAGE;
  /** No text came after that usage. */
  #isUsageLast = false;
  #isUsageInError = false;

  constructor(terms: RelayTerms, kind: ChunkKind) {
    this.terms = terms;
    this.#kind = kind;
    this.known = terms.parseEveryFrame === true ? null : new RepeatedFrames(kind.wordsOf);
    this.#usageRule = usageRule(terms.quirks);
  }

  /** True if every choice has finished, even if no terminator came. */
  abstract get mayEndHere(): boolean;

  protected abstract get hasBegun(): boolean;

  /** The usage in a chunk, as the host wrote it. */
  protected abstract usageIn(chunk: Members): unknown;

  /** The last chunks of choices without a finish reason: clients need one for every choice. */
  protected abstract finishTexts(): string;

  get usage(): UsageReading {
    const reading = this.#reading;
    return reading.state !== 'reported' || this.#isUsageFinal() ? reading : { state: 'partial', usage: reading.usage };
  }

  closing({ usage }: Bill): string {
    let text = this.finishTexts();
    if (this.terms.wantsUsageFrame) {
      text += this.chunkText('[]', `,"usage":${JSON.stringify(writePromptUsage(usage, this.#rawUsage))}`);
    }
    return `${text}data: [DONE]\n\n`;
  }

  /** Gives all chunks the first usable id and creation time; some hosts change them or leave them out. */
  protected mendIdentity(chunk: Members): boolean {
    const { object } = this.#kind;
    this.id ??= isUsableId(chunk.id) ? chunk.id : this.#ownId();
    this.createdS ??= isTime(chunk.created) ? chunk.created : this.terms.createdS;
    if (chunk.id === this.id && chunk.created === this.createdS && chunk.object === object) return false;
    chunk.id = this.id;
    chunk.created = this.createdS;
    chunk.object = object;
    return true;
  }

  /** Records the usage in a chunk. The last one counts: hosts that repeat usage send running totals. */
  protected noteUsage(chunk: Members): boolean {
    const raw = this.usageIn(chunk);
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
    if (!this.hasBegun) this.fail('the host ended its stream without a response');
    return null;
  }

  /** The host sent an error, or the stream is broken. */
  protected fail(error: unknown, chunk: Members = {}): null {
    this.#isUsageInError = this.noteUsage(chunk);
    this.error = readErrorMember(error);
    this.terminal = true;
    return null;
  }

  protected chunkText(choices: string, extra: string): string {
    const { catalogModel, createdS } = this.terms;
    const id = JSON.stringify(this.id ?? this.#ownId());
    const model = JSON.stringify(catalogModel);
    const created = this.createdS ?? createdS;
    return `data: {"id":${id},"object":"${this.#kind.object}","created":${created},"model":${model},"choices":${choices}${extra}}\n\n`;
  }

  #isUsageFinal(): boolean {
    if (this.error !== null) return this.#isUsageInError;
    return this.#isUsageLast && (this.terminal || this.mayEndHere);
  }

  #ownId(): string {
    return this.#kind.idPrefix + this.terms.requestId;
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
