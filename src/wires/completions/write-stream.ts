import type { BlockHead, CanonicalEvent } from '../../canonical/events.ts';
import type { Bill } from '../bill.ts';
import type { StreamWriter, WriteTerms } from '../hub.ts';
import { writePromptUsage } from '../usage/prompt-usage.ts';
import { writeFinishReason } from './finish-reason.ts';

/** This wire has no place for reasoning and tool calls. */
export function isText({ kind }: BlockHead): boolean {
  return kind === 'text' || kind === 'refusal';
}

/** Writes events as chunks of this wire: one choice, its text, its end. */
class CompletionStreamWriter implements StreamWriter {
  readonly #terms: WriteTerms;
  readonly #tail: string;
  #head = '';

  constructor(terms: WriteTerms) {
    this.#terms = terms;
    this.#tail = terms.wantsUsageFrame ? ',"usage":null}\n\n' : '}\n\n';
  }

  event(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'start':
        this.#head = this.#headText(event.createdS ?? this.#terms.createdS);
        return '';
      case 'block-delta':
        return this.#chunk(JSON.stringify(event.text), 'null');
      case 'finish':
        return this.#chunk('""', `"${writeFinishReason(event.reason)}"`);
      default:
        return '';
    }
  }

  closing({ usage }: Bill): string {
    const last = this.#terms.wantsUsageFrame
      ? `${this.#head}"choices":[],"usage":${JSON.stringify(writePromptUsage(usage, null))}}\n\n`
      : '';
    return `${last}data: [DONE]\n\n`;
  }

  #headText(createdS: number): string {
    const { catalogModel, requestId } = this.#terms;
    return `data: {"id":"cmpl-${requestId}","object":"text_completion","created":${createdS},"model":${JSON.stringify(catalogModel)},`;
  }

  #chunk(text: string, reason: string): string {
    return `${this.#head}"choices":[{"text":${text},"index":0,"logprobs":null,"finish_reason":${reason}}]${this.#tail}`;
  }
}

export function writeStream(terms: WriteTerms): StreamWriter {
  return new CompletionStreamWriter(terms);
}
