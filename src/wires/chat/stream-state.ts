import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import type { Bill, HostError, RelayTerms } from '../wire.ts';
import { usageManner } from './manners.ts';
import { type ChoiceState, newChoice } from './mend-choice.ts';
import { readUsage, writeUsage } from './usage.ts';

/** What both relays of this wire remember of a stream, and how they close it. */
export class StreamState {
  readonly terms: RelayTerms;
  id: string | null = null;
  readonly choices: ChoiceState[] = [];
  relayedBytes = 0;
  terminal = false;
  error: HostError | null = null;
  #rawUsage: unknown = null;
  #reading: UsageReading = MISSING_USAGE;
  #usageIsFinal = false;

  constructor(terms: RelayTerms) {
    this.terms = terms;
  }

  choice(index: unknown): ChoiceState {
    const at = Number.isSafeInteger(index) && (index as number) >= 0 && (index as number) < 128 ? (index as number) : 0;
    while (this.choices.length <= at) this.choices.push(newChoice());
    return this.choices[at]!;
  }

  /** Takes note of a chunk's usage; the last one counts, since hosts that repeat it send running totals. */
  noteUsage(chunk: Record<string, unknown>, isFinal: boolean): void {
    const manner = usageManner(this.terms.manners);
    const raw = manner.find(chunk);
    if (raw === undefined || raw === null) return;
    this.#rawUsage = raw;
    this.#reading = readUsage(raw, manner.rule);
    this.#usageIsFinal = isFinal;
  }

  get usage(): UsageReading {
    if (this.#reading.state !== 'reported') return this.#reading;
    const isFinal = this.#usageIsFinal || (this.error === null && (this.terminal || this.mayEndHere));
    return isFinal ? this.#reading : { state: 'partial', usage: this.#reading.usage };
  }

  get mayEndHere(): boolean {
    return this.choices.length > 0 && this.choices.every((choice) => choice.finished);
  }

  chunkText(choices: string, extra: string): string {
    const { catalogModel, createdS } = this.terms;
    const id = JSON.stringify(this.idOrOwn());
    return `data: {"id":${id},"object":"chat.completion.chunk","created":${createdS},"model":${JSON.stringify(catalogModel)},"choices":${choices}${extra}}\n\n`;
  }

  idOrOwn(): string {
    this.id ??= `chatcmpl-${this.terms.requestId}`;
    return this.id;
  }

  closing({ usage }: Bill): string {
    if (this.choices.length === 0) this.choices.push(newChoice());
    let text = '';
    this.choices.forEach((choice, index) => {
      if (!choice.finished) text += this.#finishText(choice, index);
    });
    if (this.terms.wantsUsageFrame) {
      text += this.chunkText('[]', `,"usage":${JSON.stringify(writeUsage(usage, this.#rawUsage))}`);
    }
    return `${text}data: [DONE]\n\n`;
  }

  /** A host that forgot the finish reason leaves the client's SDK without an end to the answer. */
  #finishText(choice: ChoiceState, index: number): string {
    const reason = choice.toolIds.length > 0 ? 'tool_calls' : 'stop';
    const delta = choice.roleSent ? '{}' : '{"role":"assistant","content":""}';
    const usage = this.terms.wantsUsageFrame ? ',"usage":null' : '';
    return this.chunkText(`[{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":"${reason}"}]`, usage);
  }
}
