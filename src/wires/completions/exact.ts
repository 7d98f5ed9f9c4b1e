import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject, objectsIn } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { StreamState } from './stream-state.ts';

/** For hosts proven to send conforming frames: bytes pass as they came, whole frames may be withheld. */
class ExactStream extends StreamState implements StreamRelay {
  frame(frame: SseFrame): Buffer | null {
    return this.terminal ? null : this.#read(frame);
  }

  #read(frame: SseFrame): Buffer | null {
    const { data } = frame;
    if (data === null) return null;
    if (data === '[DONE]') return this.noteEnd();
    const chunk = tryParseJson(data);
    if (!isObject(chunk)) return this.fail('the host sent a frame that is no JSON object');
    if (chunk.error) return this.fail(chunk.error, chunk);
    const choices = objectsIn(chunk.choices);
    for (const { index, text, finish_reason: reason } of choices) {
      const answer = this.begin(index);
      if (reason !== null) this.finish(answer.index);
      this.noteWords(Buffer.byteLength(text as string));
    }
    const toldUsage = this.noteUsage(chunk);
    if (choices.length === 0) return null;
    this.mendIdentity(chunk);
    const [choice] = choices;
    if (choices.length === 1 && choice!.finish_reason === null && !toldUsage) {
      this.known.learn(frame.raw, null, choice!);
    }
    return frame.raw;
  }
}

export function exactStream(terms: RelayTerms): StreamRelay {
  return new ExactStream(terms);
}
