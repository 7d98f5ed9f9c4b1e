import type { BlockHead, EventSink } from '../../canonical/events.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { tryParseJson } from '../../json/json.ts';
import { randomBase62 } from '../../kit/ids.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { isObject, isText, type Members } from '../fields/members.ts';
import type { StreamReader } from '../hub.ts';
import { laterReading } from '../usage/later-reading.ts';
import { type DeltaShape, deltaShape } from './delta-shape.ts';
import { readInBandError } from './errors.ts';
import { exactBlockStart, wholeInput } from './mend-block.ts';
import { redactedOpaque, signedOpaque } from './opaque-reasoning.ts';
import { readStopReason } from './stop-reason.ts';
import { mergeUsage, readUsage } from './usage.ts';

type Reading = 'nothing' | 'block' | 'skipped block';

/** Reads a host's frames into events. Blocks that no other wire has, such as those of the vendor's own tools, are dropped. */
class MessageReader implements StreamReader {
  readonly #emit: EventSink;
  #started = false;
  #over = false;
  #inside: Reading = 'nothing';
  /** The host's index of the last block. */
  #index: unknown = null;
  /** The shape of the open block's deltas, which need no parsing. */
  #shape: DeltaShape | null = null;
  #signature = '';
  #redacted: string | null = null;
  #toolsSeen = false;
  #usage: Members = {};
  #reading: UsageReading = MISSING_USAGE;
  #stopReason: string | null = null;
  #stopSequence: string | null = null;

  constructor(emit: EventSink) {
    this.#emit = emit;
  }

  frame(frame: SseFrame): void {
    if (this.#over) return;
    if (this.#shape?.matches(frame.raw)) {
      this.#text(tryParseJson(this.#shape.wordsJson(frame.raw)));
      return;
    }
    this.#read(frame);
  }

  #read(frame: SseFrame): void {
    const data = frame.data;
    if (data === null) return;
    const event = tryParseJson(data);
    if (!isObject(event)) {
      if (data !== '[DONE]') this.#fail({ message: 'the host sent a frame that is not JSON' });
      return;
    }
    switch (event.type ?? frame.event) {
      case 'content_block_delta':
        if (isObject(event.delta)) this.#delta(event.delta, event.index);
        break;
      case 'content_block_start':
        this.#blockStart(exactBlockStart(event, data).content_block, event.index);
        break;
      case 'content_block_stop':
        this.#endBlock();
        break;
      case 'message_start':
        this.#messageStart(isObject(event.message) ? event.message : {});
        break;
      case 'message_delta':
        this.#messageDelta(event);
        break;
      case 'message_stop':
        if (this.#started) this.#finish(this.#stopReason ?? 'end_turn');
        else this.#fail({ message: 'the host ended its stream without a response' });
        break;
      default:
        if (event.type === 'error' || isObject(event.error)) this.#fail(event.error ?? event);
    }
  }

  end(): void {
    if (!this.#over && this.#started && this.#stopReason !== null) this.#finish(this.#stopReason);
  }

  #messageStart(message: Members): void {
    this.#start(typeof message.id === 'string' ? message.id : null);
    this.#noteUsage(message.usage, false);
  }

  #start(id: string | null): void {
    if (this.#started) return;
    this.#started = true;
    this.#emit({ kind: 'start', id, createdS: null });
  }

  #blockStart(block: unknown, index: unknown): void {
    if (!isObject(block)) return;
    this.#start(null);
    this.#endBlock();
    this.#index = index;
    const head = readHead(block);
    if (head === null) {
      this.#inside = 'skipped block';
      return;
    }
    this.#begin(head);
    this.#shape = deltaShape(index, block.type);
    if (head.kind === 'tool-call') this.#toolsSeen = true;
    if (block.type === 'redacted_thinking') this.#redacted = String(block.data ?? '');
    if (typeof block.signature === 'string') this.#signature = block.signature;
    this.#text(wholeText(block));
  }

  #begin(block: BlockHead): void {
    this.#inside = 'block';
    if (block.kind === 'tool-call') this.#contentCame();
    this.#emit({ kind: 'block-start', block });
  }

  #delta(delta: Members, index: unknown): void {
    if (this.#inside === 'nothing' || (index !== this.#index && index !== undefined)) this.#openFor(delta.type, index);
    if (this.#inside !== 'block' || this.#over) return;
    if (delta.type === 'signature_delta') this.#sign(String(delta.signature ?? ''));
    else this.#text(delta.text ?? delta.thinking ?? delta.partial_json);
  }

  #sign(piece: string): void {
    this.#signature += piece;
    if (this.#signature.length > LIMITS.sseFrameBytesMax)
      this.#fail({ message: 'the host sent a signature that is too long' });
  }

  /** Opens a block that the host did not open; a block that has ended cannot be reopened. */
  #openFor(deltaType: unknown, index: unknown): void {
    const head = headOfDelta(deltaType);
    const isPast = typeof index === 'number' && typeof this.#index === 'number' && index <= this.#index;
    if (head === null || isPast) {
      this.#fail({ message: 'the host sent a delta for a block that is not open' });
      return;
    }
    this.#start(null);
    this.#endBlock();
    this.#index = index;
    this.#begin(head);
  }

  #text(text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    this.#contentCame();
    this.#emit({ kind: 'block-delta', text });
  }

  #endBlock(): void {
    if (this.#inside === 'block') {
      const opaque = this.#redacted === null ? signedOpaque(this.#signature) : redactedOpaque(this.#redacted);
      this.#emit({ kind: 'block-end', opaque });
    }
    this.#inside = 'nothing';
    this.#shape = null;
    this.#signature = '';
    this.#redacted = null;
  }

  #messageDelta({ delta, usage }: Members): void {
    if (isObject(delta)) {
      if (typeof delta.stop_reason === 'string') this.#stopReason = delta.stop_reason;
      if (typeof delta.stop_sequence === 'string') this.#stopSequence = delta.stop_sequence;
    }
    this.#noteUsage(usage, this.#stopReason !== null);
  }

  #noteUsage(usage: unknown, isFinal: boolean): void {
    if (!isObject(usage)) return;
    this.#usage = mergeUsage(this.#usage, usage);
    const reading = readUsage(this.#usage);
    const isPartial = reading.state === 'reported' && !isFinal;
    this.#reading = laterReading(this.#reading, isPartial ? { state: 'partial', usage: reading.usage } : reading);
    this.#emit({ kind: 'usage', reading: this.#reading });
  }

  /** Usage that came before does not include it. */
  #contentCame(): void {
    if (this.#reading.state !== 'reported') return;
    this.#reading = { state: 'partial', usage: this.#reading.usage };
    this.#emit({ kind: 'usage', reading: this.#reading });
  }

  #finish(raw: string): void {
    this.#endBlock();
    this.#over = true;
    const reason = readStopReason(raw, this.#toolsSeen);
    this.#emit({ kind: 'finish', reason, raw, stopSequence: this.#stopSequence });
  }

  #fail(error: unknown): void {
    this.#over = true;
    this.#emit({ kind: 'error', error: readInBandError(error) });
  }
}

function headOfDelta(type: unknown): BlockHead | null {
  if (type === 'text_delta') return { kind: 'text' };
  return type === 'thinking_delta' || type === 'signature_delta' ? { kind: 'reasoning' } : null;
}

export function readHead(block: Members): BlockHead | null {
  switch (block.type) {
    case 'text':
      return { kind: 'text' };
    case 'thinking':
    case 'redacted_thinking':
      return { kind: 'reasoning' };
    case 'tool_use':
      return {
        kind: 'tool-call',
        id: isText(block.id) ? block.id : `toolu_${randomBase62(24)}`,
        name: String(block.name ?? ''),
      };
    default:
      return null;
  }
}

/** Content that a host put into the head of a block instead of its deltas. */
function wholeText({ type, text, thinking, input }: Members): unknown {
  return type === 'tool_use' ? wholeInput(input) : (text ?? thinking);
}

export function readStream(_quirks: HostQuirks, emit: EventSink): StreamReader {
  return new MessageReader(emit);
}
