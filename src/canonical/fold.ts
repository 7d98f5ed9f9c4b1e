import type { CanonicalEvent, CanonicalResponse, EventSink, FinishEvent, ResponseBlock } from './events.ts';
import type { HostError } from './host-error.ts';
import { MISSING_USAGE, type UsageReading } from './usage.ts';

/** Collects events into a buffered response. */
export class ResponseFold {
  #id: string | null = null;
  #createdS: number | null = null;
  readonly #blocks: ResponseBlock[] = [];
  #open: { head: ResponseBlock['head']; texts: string[] } | null = null;
  #finish: FinishEvent | null = null;
  #usage: UsageReading = MISSING_USAGE;
  error: HostError | null = null;

  readonly event = (event: CanonicalEvent): void => {
    switch (event.kind) {
      case 'start':
        this.#id = event.id;
        this.#createdS = event.createdS;
        break;
      case 'block-start':
        this.#open = { head: event.block, texts: [] };
        break;
      case 'block-delta':
        this.#open?.texts.push(event.text);
        break;
      case 'block-end':
        if (this.#open !== null) {
          this.#blocks.push({ head: this.#open.head, text: this.#open.texts.join(''), opaque: event.opaque });
        }
        this.#open = null;
        break;
      case 'usage':
        this.#usage = event.reading;
        break;
      case 'finish':
        this.#finish = event;
        break;
      case 'error':
        this.error = event.error;
        break;
    }
  };

  /** Null if the response did not finish. */
  answer(): CanonicalResponse | null {
    if (this.#finish === null) return null;
    return {
      id: this.#id,
      createdS: this.#createdS,
      blocks: this.#blocks,
      finish: this.#finish,
      usage: this.#usage,
    };
  }
}

/** The inverse: emits the events that this response can be built from. */
export function unfold(answer: CanonicalResponse, emit: EventSink): void {
  emit({ kind: 'start', id: answer.id, createdS: answer.createdS });
  for (const { head, text, opaque } of answer.blocks) {
    emit({ kind: 'block-start', block: head });
    if (text !== '') emit({ kind: 'block-delta', text });
    emit({ kind: 'block-end', opaque });
  }
  emit({ kind: 'usage', reading: answer.usage });
  emit(answer.finish);
}
