import { tryParseJson } from '../../kit/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { readStreamError } from './errors.ts';
import { isObject } from './fields.ts';
import { modelBytes } from './mend-choice.ts';
import { StreamState } from './stream-state.ts';

const NEEDS_PARSING = ['"usage":{', '"finish_reason":"', '"error":', '"choices":[]'];

/**
 * For hosts proven to send conforming frames: bytes pass as they came, whole frames may be withheld. A frame is parsed
 * only when a scan of its bytes finds something the meter needs.
 */
class ExactStream extends StreamState implements StreamRelay {
  frame(frame: SseFrame): Buffer | null {
    if (this.terminal || frame.isComment) return null;
    const text = frame.raw.toString('latin1');
    if (text.startsWith('data: [DONE]')) {
      this.terminal = true;
      return null;
    }
    if (this.id === null || NEEDS_PARSING.some((member) => text.includes(member))) return this.#inspect(frame);
    this.relayedBytes += contentBytes(text);
    return frame.raw;
  }

  #inspect(frame: SseFrame): Buffer | null {
    const chunk = tryParseJson(frame.data ?? '');
    if (!isObject(chunk)) return this.#fail({ message: 'the host sent a frame that is not JSON' });
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
    if (chunk.error !== undefined && chunk.error !== null) {
      this.noteUsage(chunk, true);
      return this.#fail(chunk.error);
    }
    if (typeof chunk.id === 'string') this.id ??= chunk.id;
    this.noteUsage(chunk, choices.length === 0);
    if (choices.length === 0) return null;
    for (const choice of choices) this.#noteChoice(choice);
    return frame.raw;
  }

  #noteChoice(choice: Record<string, unknown>): void {
    const state = this.choice(choice.index);
    state.roleSent = true;
    if (typeof choice.finish_reason === 'string') state.finished = true;
    if (isObject(choice.delta)) this.relayedBytes += modelBytes(choice.delta);
  }

  #fail(error: unknown): null {
    this.error = readStreamError(error);
    this.terminal = true;
    return null;
  }
}

const TEXTS = ['"content":"', '"reasoning_content":"', '"arguments":"', '"refusal":"'];

/** Bytes of the model's own text in a frame, escapes as they stand: only an estimate ever reads this. */
function contentBytes(text: string): number {
  let bytes = 0;
  for (const member of TEXTS) {
    const at = text.indexOf(member);
    if (at !== -1) bytes += stringEnd(text, at + member.length) - (at + member.length);
  }
  return bytes;
}

function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

export function exactStream(terms: RelayTerms): StreamRelay {
  return new ExactStream(terms);
}
