import type { BlockHead, CanonicalEvent, FinishEvent } from '../../canonical/events.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import type { Bill } from '../bill.ts';
import type { StreamWriter, WriteTerms } from '../hub.ts';
import { blockDelta, blockStart, blockStop, frameText, MESSAGE_STOP, PING, signatureDelta } from './frames.ts';
import { messageStart, ownMessageId } from './message.ts';
import { isOwnRedacted, writeSignature } from './opaque-reasoning.ts';
import { receiptFrame } from './receipt.ts';
import { writeEnding } from './stop-reason.ts';
import { writeFinalUsage } from './usage.ts';

const TEXT_HEAD = '{"type":"text","text":"","citations":null}';
const THINKING_HEAD = '{"type":"thinking","thinking":"","signature":""}';

/** Writes events as the frames of a message. */
class MessageWriter implements StreamWriter {
  readonly #terms: WriteTerms;
  #index = -1;
  #head: BlockHead = { kind: 'text' };
  /** Whether reasoning is redacted is known only at its end, so its block opens with its first text or at the end. */
  #opened = false;
  /** The bytes before and after the text of a delta of the open block. */
  #deltaOpening = '';
  #refused = false;
  #finish: FinishEvent = { kind: 'finish', reason: 'stop', raw: null, stopSequence: null };

  constructor(terms: WriteTerms) {
    this.#terms = terms;
  }

  event(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'block-delta':
        return this.#delta(event.text);
      case 'start':
        return messageStart({}, {}, ownMessageId(this.#terms.requestId), this.#terms.catalogModel) + PING;
      case 'block-start':
        return this.#start(event.block);
      case 'block-end':
        return this.#end(event.opaque);
      case 'finish':
        this.#finish = event;
        return '';
      default:
        return '';
    }
  }

  closing(bill: Bill): string {
    const delta = { ...writeEnding(this.#finish, this.#refused), container: null };
    const event = { type: 'message_delta', delta, usage: writeFinalUsage(bill.usage, {}) };
    return frameText('message_delta', JSON.stringify(event)) + MESSAGE_STOP + receiptFrame(bill, this.#terms);
  }

  #start(head: BlockHead): string {
    this.#index++;
    this.#head = head;
    this.#opened = head.kind !== 'reasoning';
    this.#deltaOpening = deltaOpening(this.#index, head);
    if (head.kind === 'refusal') this.#refused = true;
    return this.#opened ? blockStart(this.#index, headJson(head)) : '';
  }

  #delta(text: string): string {
    return `${this.#open()}${this.#deltaOpening}${JSON.stringify(text)}}}\n\n`;
  }

  #open(): string {
    if (this.#opened) return '';
    this.#opened = true;
    return blockStart(this.#index, headJson(this.#head));
  }

  #end(opaque: OpaqueReasoning | null): string {
    const index = this.#index;
    if (opaque !== null && isOwnRedacted(opaque) && !this.#opened) {
      return blockStart(index, JSON.stringify({ type: 'redacted_thinking', data: opaque.data })) + blockStop(index);
    }
    const signature = this.#head.kind === 'reasoning' ? signatureDelta(index, writeSignature(opaque)) : '';
    return this.#open() + signature + blockStop(index);
  }
}

/** A refusal is text here; the stop reason marks it. */
function headJson(head: BlockHead): string {
  switch (head.kind) {
    case 'text':
    case 'refusal':
      return TEXT_HEAD;
    case 'reasoning':
      return THINKING_HEAD;
    case 'tool-call': {
      const { id, name } = head;
      return JSON.stringify({ type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } });
    }
  }
}

/** The frame of a delta up to its text, built once per block: most frames are deltas. */
function deltaOpening(index: number, { kind }: BlockHead): string {
  const [type, member] = DELTAS[kind];
  return blockDelta(index, `{"type":"${type}","${member}":`).slice(0, -'}\n\n'.length);
}

const DELTAS: Readonly<Record<BlockHead['kind'], readonly [type: string, member: string]>> = {
  text: ['text_delta', 'text'],
  refusal: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  'tool-call': ['input_json_delta', 'partial_json'],
};

export function writeStream(terms: WriteTerms): StreamWriter {
  return new MessageWriter(terms);
}
