import { LIMITS } from '../../../limits.ts';
import { FrameList, type Spent } from '../../frame-list.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { namedFrameOf } from '../../sse.ts';
import { isWithheld } from '../../usage-fault.ts';
import { type ContentBlock, composeContent } from './content.ts';
import { errorJson, usualError } from './errors.ts';
import { openMessage, type Spoken, stopMembers } from './message.ts';
import type { MessagesRequest } from './request.ts';
import { type AskedTokens, writeFinalUsage, writeUsage } from './usage.ts';

const TOKENS_PER_CHUNK = 4;
const PADDING_MAX = 16;
/** What the vendor reports before the first token; it must not be billed. */
const FIRST_SPENT: Spent = { outputTokens: 1, reasoningTokens: 0 };
const PING = namedFrameOf('ping', '{"type": "ping"}');

/** The answer as the vendor's sequence of events. */
export function writeEvents(spoken: Spoken, script: SimScript, host: SimHost): string[] {
  const writer = new EventWriter(spoken.asked, script);
  writer.writeStart(spoken.request, host);
  for (const [index, block] of composeContent(spoken.choice, spoken.request, script, host).entries()) {
    writer.writeBlock(index, block);
  }
  writer.writeEnd(stopMembers(spoken, script), spoken.choice);
  return writer.finish();
}

class EventWriter {
  readonly #list = new FrameList();
  readonly #asked: AskedTokens;
  readonly #script: SimScript;

  constructor(asked: AskedTokens, script: SimScript) {
    this.#asked = asked;
    this.#script = script;
  }

  writeStart(request: MessagesRequest, host: SimHost): void {
    const given = this.#script.usage !== 'omit';
    const usage = given ? `,"usage":${writeUsage(this.#asked, FIRST_SPENT, this.#script.usage)}` : '';
    const ending = '"stop_reason":null,"stop_sequence":null,"stop_details":null';
    this.#push('message_start', `"message":${openMessage(request, host)}[],${ending}${usage}}`);
  }

  writeBlock(index: number, block: ContentBlock): void {
    const opening = `"index":${index},"content_block":${JSON.stringify(block.opening)}`;
    this.#push('content_block_start', opening, block.openingTakes);
    if (index === 0) this.#list.push(PING);
    for (const { delta, takes } of block.pieces(this.#script.tokensPerChunk ?? TOKENS_PER_CHUNK)) {
      this.#push('content_block_delta', `"index":${index},"delta":${JSON.stringify(delta)}`, takes);
    }
    this.#push('content_block_stop', `"index":${index}`);
    if (this.#script.usage === 'repeat') {
      const usage = writeFinalUsage(this.#asked, this.#list.spent, undefined);
      this.#push('message_delta', `"delta":{"stop_reason":null,"stop_sequence":null},"usage":${usage}`);
    }
  }

  /** Usage of the whole answer: a refusal is in no block, but it was generated. */
  writeEnd(ending: string, spent: Spent): void {
    const usage = writeFinalUsage(this.#asked, spent, this.#script.usage);
    this.#push('message_delta', `"delta":{${ending}}${isWithheld(this.#script.usage) ? '' : `,"usage":${usage}`}`);
    if (!this.#script.omitDone) this.#push('message_stop', '');
    if (this.#script.addDone) this.#list.push('data: [DONE]\n\n');
  }

  /** All frames, or those before the error. */
  finish(): string[] {
    const { errorAfterChunks, errorWithUsage, usage } = this.#script;
    if (errorAfterChunks !== undefined) {
      this.#list.cut(errorAfterChunks);
      const spent = writeFinalUsage(this.#asked, this.#list.spent, usage);
      const error = errorJson(529, usualError(529).message, errorWithUsage ? `,"usage":${spent}` : '');
      this.#list.push(namedFrameOf('error', error));
    }
    return this.#list.frames;
  }

  #push(type: string, members: string, takes?: Spent): void {
    this.#list.push(eventFrame(type, members, this.#list.frames.length), takes);
  }
}

/** The vendor pads its events with spaces before the last brace, to hide their length. */
function eventFrame(type: string, members: string, position: number): string {
  const padding = ' '.repeat((position * 5) % PADDING_MAX);
  return namedFrameOf(type, `{"type":"${type}"${members === '' ? '' : ','}${members}${padding}}`);
}

/** A stream that never finishes, up to the simulator's own limit. */
export function* writeEndlessEvents(
  request: MessagesRequest,
  asked: AskedTokens,
  script: SimScript,
  host: SimHost,
): Iterable<string> {
  const writer = new EventWriter(asked, script);
  writer.writeStart(request, host);
  yield* writer.finish();
  yield eventFrame('content_block_start', '"index":0,"content_block":{"type":"text","text":""}', 1);
  const frame = eventFrame(
    'content_block_delta',
    '"index":0,"delta":{"type":"text_delta","text":" and so it goes on"}',
    2,
  );
  for (let chunk = 0; chunk < LIMITS.simEndlessChunksMax; chunk++) yield frame;
}
