import { tryParseJson } from '../../json/json.ts';
import { encodeSse, SseFrame } from '../../kit/sse.ts';
import { beyondMetadata, contentBytes, extraBytes } from '../fields/extra-bytes.ts';
import { isObject, type Members } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { deltaShape } from './delta-shape.ts';
import { blockStart, frameText, inputDelta, PING } from './frames.ts';
import { blockBytes, deltaBytes, exactBlockStart, mendBlockHead } from './mend-block.ts';
import { isReceipt } from './receipt.ts';
import { StreamState } from './stream-state.ts';

/** Repairs every frame; a frame that needs no repair is passed on byte for byte. */
class MendedStream extends StreamState implements StreamRelay {
  #lastHostIndex = -1;
  readonly #mintId = (): string => `toolu_${this.terms.requestId}_${this.nextIndex}`;

  frame(frame: SseFrame): Buffer | string | null {
    const shape = this.terminal ? null : this.open?.shape;
    if (shape?.matches(frame.raw)) {
      this.noteContent(shape.wordBytes);
      return frame.raw;
    }
    return this.#read(frame);
  }

  #read(frame: SseFrame): Buffer | string | null {
    const data = frame.data;
    if (data === null || this.terminal) return null;
    const event = tryParseJson(data);
    if (!isObject(event)) return this.#notJson(data);
    const type = event.type;
    if (typeof type !== 'string') return this.#untyped(event, frame.event);
    if (event.error !== undefined && type !== 'error') return this.#withError(event);
    switch (type) {
      case 'content_block_delta':
        return this.#delta(event, frame);
      case 'content_block_start':
        return this.#blockStart(exactBlockStart(event, data), frame);
      case 'content_block_stop':
        return this.#blockStop(event, frame);
      case 'message_start':
        return this.started ? null : this.start(event);
      case 'message_delta':
        this.noteEnding(event);
        return null;
      case 'message_stop':
        return this.stop();
      case 'ping':
        return this.started ? PING : null;
      default:
        return this.#other(type, event, frame);
    }
  }

  /** The data lacks its `type`: it is taken from the event line, because clients read both. */
  #untyped(event: Members, type: string | null): Buffer | string | null {
    if (type !== null && isEventName(type)) return this.#read(new SseFrame(Buffer.from(rewritten({ ...event, type }))));
    return isObject(event.error) ? this.fail(event.error) : null;
  }

  /** An error beside content ends the stream. Anything else under that name is removed, or clients would take it for an error. */
  #withError({ error, ...event }: Members): Buffer | string | null {
    return isObject(error) ? this.fail(error) : this.#read(new SseFrame(Buffer.from(rewritten(event))));
  }

  /** Some hosts end the stream with `[DONE]`, as on the chat wire. */
  #notJson(data: string): null {
    if (data !== '[DONE]') return this.fail({ message: 'the host sent a frame that is not JSON' });
    this.terminal = this.mayEndHere;
    return null;
  }

  #blockStart(event: Members, frame: SseFrame): Buffer | string {
    const before = this.#opening() + this.closeBlock();
    const block: Members = isObject(event.content_block) ? event.content_block : { type: 'text' };
    const { changed, inputJson } = mendBlockHead(block, this.#mintId);
    const index = this.nextIndex++;
    const shape = event.index === index ? deltaShape(index, block.type) : null;
    this.open = { index, hostIndex: event.index, signature: null, relayedBefore: this.relayedBytes, shape };
    if (typeof event.index === 'number') this.#lastHostIndex = event.index;
    if (block.type === 'tool_use') this.toolsSeen = true;
    this.noteContent(blockBytes(block) + Buffer.byteLength(inputJson) + beyondMetadata(extraBytes(event, OF_EVENT)));
    const mended = changed || event.index !== index;
    const own = mended ? rewritten({ ...event, index, content_block: block }) : unchanged('content_block_start', frame);
    return joined(before, own, inputJson === '' ? '' : inputDelta(index, inputJson));
  }

  #delta(event: Members, frame: SseFrame): Buffer | string | null {
    const delta: Members = isObject(event.delta) ? event.delta : {};
    let before = '';
    if (this.open === null || (event.index !== this.open.hostIndex && event.index !== undefined)) {
      const opened = this.#openFor(event.index, delta);
      if (opened === null) return this.fail({ message: 'the host sent a delta for a block that had ended' });
      before = opened;
    }
    const block = this.open!;
    if (delta.type === 'signature_delta') {
      this.sign(delta);
      return before === '' ? null : before;
    }
    this.noteContent(deltaBytes(delta) + beyondMetadata(extraBytes(event, OF_EVENT)));
    const index = block.index;
    const own = event.index === index ? unchanged('content_block_delta', frame) : rewritten({ ...event, index });
    return joined(before, own, '');
  }

  /** Opens a block that the host did not open; null if that is not possible, and then the stream fails. */
  #openFor(hostIndex: unknown, delta: Members): string | null {
    if (typeof hostIndex === 'number' && hostIndex <= this.#lastHostIndex) return null;
    const head = headFor(delta.type);
    if (head === null) return null;
    const before = this.#opening() + this.closeBlock();
    const index = this.nextIndex++;
    this.open = { index, hostIndex, signature: null, relayedBefore: this.relayedBytes, shape: null };
    if (typeof hostIndex === 'number') this.#lastHostIndex = hostIndex;
    return before + blockStart(index, head);
  }

  /** A second end of the same block is ignored. */
  #blockStop(event: Members, frame: SseFrame): Buffer | string | null {
    const block = this.open;
    if (block === null || (event.index !== undefined && event.index !== block.hostIndex)) return null;
    if (block.signature !== null || event.index !== block.index) return this.closeBlock();
    this.open = null;
    return unchanged('content_block_stop', frame);
  }

  #other(type: string, event: Members, frame: SseFrame): Buffer | string | null {
    if (type === 'error' || isObject(event.error)) return this.fail(event.error ?? event);
    if (!this.started || isReceipt(type) || !isEventName(type)) return null;
    this.noteContent(beyondMetadata(contentBytes(event)));
    return unchanged(type, frame);
  }

  #opening(): string {
    return this.started ? '' : this.start({});
  }
}

const OF_EVENT = new Set(['type', 'index', 'delta', 'content_block']);

/** A name with a line break could forge a frame. */
function isEventName(type: string): boolean {
  return /^[\w.-]{1,64}$/.test(type);
}

/** The host's own bytes, unless the event name was missing: clients would skip the frame. */
function unchanged(type: string, frame: SseFrame): Buffer | string {
  return frame.event === type ? frame.raw : encodeSse({ event: type, data: frame.data! });
}

function rewritten(event: Members): string {
  return frameText(event.type as string, JSON.stringify(event));
}

function headFor(deltaType: unknown): string | null {
  if (deltaType === 'text_delta') return '{"type":"text","text":""}';
  if (deltaType === 'thinking_delta' || deltaType === 'signature_delta') {
    return '{"type":"thinking","thinking":"","signature":""}';
  }
  return null;
}

function joined(before: string, frame: Buffer | string, after: string): Buffer | string {
  return before === '' && after === '' ? frame : before + frame.toString() + after;
}

export function mendStream(terms: RelayTerms): StreamRelay {
  return new MendedStream(terms);
}
