import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject, type Members } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { isReceipt } from './receipt.ts';
import { StreamState } from './stream-state.ts';

const DELTA = 'event: content_block_delta\n';
const TEXTS = ['"text"', '"thinking"', '"partial_json"'];

/**
 * For hosts proven to send conforming frames: bytes pass as they came, whole frames may be withheld. Deltas, nearly all
 * of a stream, are not parsed; the first frame is written anew, because it names the model.
 */
class ExactStream extends StreamState implements StreamRelay {
  frame(frame: SseFrame): Buffer | string | null {
    if (this.terminal || frame.raw[0] !== DELTA.charCodeAt(0)) return null;
    const text = frame.raw.toString('latin1');
    if (!text.startsWith(DELTA)) return this.#inspect(frame);
    this.relayedBytes += contentBytes(text);
    return frame.raw;
  }

  #inspect(frame: SseFrame): Buffer | string | null {
    if (frame.data === null) return null;
    const event = tryParseJson(frame.data);
    if (!isObject(event)) return this.fail({ message: 'the host sent a frame that is not JSON' });
    switch (event.type) {
      case 'message_start':
        return this.started ? null : this.start(event);
      case 'message_delta':
        this.noteEnding(event);
        return null;
      case 'message_stop':
        return this.stop();
      case 'error':
        return this.fail(event.error);
      case 'content_block_start':
        this.#noteBlock(event.content_block);
        return frame.raw;
      default:
        // A frame that is called otherwise than it calls itself could be an end for some client.
        return isReceipt(String(event.type)) || event.type !== frame.event ? null : frame.raw;
    }
  }

  #noteBlock(block: unknown): void {
    if (!isObject(block) || (block as Members).type !== 'tool_use') return;
    this.toolsSeen = true;
    if (typeof block.name === 'string') this.relayedBytes += Buffer.byteLength(block.name);
  }
}

/** Bytes of the model's own text in a delta, escapes as they stand: only an estimate ever reads this. */
function contentBytes(text: string): number {
  for (const member of TEXTS) {
    const at = text.indexOf(member);
    if (at !== -1) return Math.max(0, text.lastIndexOf('"') - text.indexOf('"', at + member.length) - 1);
  }
  return 0;
}

export function exactStream(terms: RelayTerms): StreamRelay {
  return new ExactStream(terms);
}
