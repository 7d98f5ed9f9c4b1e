import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { eventRole } from './item-kinds.ts';
import { mendStream } from './mend.ts';
import { StreamState } from './stream-state.ts';

/**
 * For hosts proven to send conforming frames: bytes pass as they came. Only the events that carry the whole response are
 * written anew, since they name the model, and the last one waits for the bill.
 */
class ExactStream extends StreamState implements StreamRelay {
  frame(frame: SseFrame): Buffer | string | null {
    if (this.terminal) return null;
    const { raw } = frame;
    const act = eventRole(nameOf(raw))?.act;
    if (act === undefined || act === 'begin' || act === 'end' || act === 'fail') return this.#read(frame);
    if (act === 'words') this.relayedBytes += textBytes(raw, WORDS);
    else if (act === 'item-added') this.relayedBytes += textBytes(raw, CALL_NAME);
    else if (act === 'item-done') this.relayedBytes += textBytes(raw, SEAL);
    this.numbers.next++;
    const opening = this.takeOpening();
    return opening === '' ? raw : Buffer.concat([Buffer.from(opening), raw]);
  }

  #read({ data }: SseFrame): string | null {
    if (data === null) return null;
    const event = tryParseJson(data);
    if (!isObject(event)) return this.fail('the host sent an event that is no JSON object');
    switch (eventRole(event.type)?.act) {
      case 'begin':
        return this.open(event.type as string, event);
      case 'end':
        return this.end(event);
      case 'fail':
        return isObject(event.response) ? this.fail(event.response.error, event.response) : this.fail(event);
      default:
        return null;
    }
  }
}

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NAME = 'event: ';
const WORDS = Buffer.from('"delta":"');
const CALL_NAME = Buffer.from('"name":"');
const SEAL = Buffer.from('"encrypted_content":"');

/** The name in the first line; of a frame that begins otherwise, nothing that any event is called. */
function nameOf(raw: Buffer): string {
  return raw.toString('latin1', NAME.length, Math.max(raw.indexOf(LF), NAME.length));
}

/** Bytes of a member that the model made, escapes as they stand: only an estimate ever reads this. */
function textBytes(raw: Buffer, member: Buffer): number {
  const at = raw.indexOf(member);
  if (at === -1) return 0;
  const start = at + member.length;
  let end = raw.indexOf(QUOTE, start);
  while (end !== -1 && isEscaped(raw, end)) end = raw.indexOf(QUOTE, end + 1);
  return end === -1 ? 0 : end - start;
}

function isEscaped(raw: Buffer, at: number): boolean {
  let backslashes = 0;
  while (raw[at - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

/** A trace that is not wanted must be taken out of frames, which only mending does. */
export function exactStream(terms: RelayTerms): StreamRelay {
  return terms.hideReasoning ? mendStream(terms) : new ExactStream(terms);
}
