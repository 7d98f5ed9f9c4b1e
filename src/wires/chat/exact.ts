import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { mendTrace, modelBytes } from './mend-text.ts';
import { StreamState } from './stream-state.ts';

/**
 * For hosts proven to send conforming frames: bytes pass as they came, whole frames may be withheld. Only a trace is
 * touched, when it stands under one of its names or is not wanted.
 */
class ExactStream extends StreamState implements StreamRelay {
  frame(frame: SseFrame): Buffer | string | null {
    return this.terminal ? null : this.#read(frame);
  }

  #read(frame: SseFrame): Buffer | string | null {
    const data = frame.data;
    if (data === null) return null;
    if (data === '[DONE]') return this.noteEnd();
    const chunk = tryParseJson(data);
    if (!isObject(chunk)) return this.fail('the host sent a frame that is no JSON object');
    if (chunk.error) return this.fail(chunk.error, chunk);
    const choices = objectsIn(chunk.choices);
    if (choices.length > 0) return this.#pass(chunk, choices, frame);
    this.noteUsage(chunk);
    return null;
  }

  #pass(chunk: Members, choices: readonly Members[], frame: SseFrame): Buffer | string | null {
    this.mendIdentity(chunk);
    const isFirst = this.choices.length === 0;
    let changed = false;
    let bytes = 0;
    for (const choice of choices) {
      const delta = choice.delta as Members;
      this.choiceAt(choice.index).finished ||= choice.finish_reason !== null;
      changed = mendTrace(delta, this.terms.hideReasoning) || changed;
      bytes += modelBytes(delta);
    }
    if (bytes > 0) this.noteWords(bytes);
    const toldUsage = this.noteUsage(chunk);
    const written = changed ? `data: ${JSON.stringify(chunk)}\n\n` : null;
    if (!toldUsage && choices.length === 1) this.#learn(frame, written, choices[0]!, bytes > 0, isFirst);
    return written ?? frame.raw;
  }

  #learn(frame: SseFrame, written: string | null, choice: Members, hasWords: boolean, isFirst: boolean): void {
    const isEnd = choice.finish_reason !== null;
    if (isFirst && !hasWords) this.learnOpening(frame, written);
    else if (hasWords && !isEnd) this.learn(frame, written, choice.delta as Members);
    else if (!hasWords && isEnd) this.learnEnd(frame, written);
  }
}

export function exactStream(terms: RelayTerms): StreamRelay {
  return new ExactStream(terms);
}
