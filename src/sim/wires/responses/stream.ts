import { LIMITS } from '../../../limits.ts';
import { type AskedUsage, CALL_OPENING_TOKENS, type Choice } from '../../answer.ts';
import { FrameList, type Spent } from '../../frame-list.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { frameOf, namedFrameOf } from '../../sse.ts';
import { splitTokens } from '../../tokens.ts';
import { errorJson, usualError } from '../errors.ts';
import {
  type CallItem,
  composeOutput,
  contentPart,
  type MessageItem,
  type OutputItem,
  openItem,
  type ReasoningItem,
  summaryPart,
  writeItem,
} from './output.ts';
import type { ResponsesRequest } from './request.ts';
import { endingOf, finalUsage, ResponseWriter } from './response.ts';
import { writeUsage } from './usage.ts';

const TOKENS_PER_CHUNK = 4;
const PADDING = 'abcdefghijklmnop';

/** The answer as the vendor's sequence of events. */
export function writeEvents(
  request: ResponsesRequest,
  choice: Choice,
  asked: AskedUsage,
  script: SimScript,
  host: SimHost,
): string[] {
  const writer = new EventWriter(request, asked, script, host);
  const items = composeOutput(choice, request, host);
  writer.writeStart();
  for (const [index, item] of items.entries()) writer.writeItem(item, index);
  writer.writeEnd(items, choice);
  return writer.finish();
}

/** The position of a delta, in the vendor's members. */
type Place = Readonly<Record<string, string | number>>;

class EventWriter {
  readonly #list = new FrameList();
  readonly #response: ResponseWriter;
  readonly #request: ResponsesRequest;
  readonly #asked: AskedUsage;
  readonly #script: SimScript;

  constructor(request: ResponsesRequest, asked: AskedUsage, script: SimScript, host: SimHost) {
    this.#response = new ResponseWriter(request, host);
    this.#request = request;
    this.#asked = asked;
    this.#script = script;
  }

  writeStart(): void {
    const early = this.#script.usage === 'early-only' || this.#script.usage === 'repeat';
    const usage = early ? writeUsage(this.#asked, this.#list.spent, undefined) : 'null';
    const response = this.#response.write({ status: 'in_progress', output: [], usage });
    this.#push('response.created', `"response":${response}`);
    this.#push('response.in_progress', `"response":${response}`);
  }

  writeItem(item: OutputItem, index: number): void {
    const added = JSON.stringify(openItem(item, 'added'));
    this.#push('response.output_item.added', `"output_index":${index},"item":${added}`, openingTakes(item));
    const place = { item_id: item.id, output_index: index };
    if (item.kind === 'reasoning') this.#writeSummary(item, place);
    else if (item.kind === 'message') this.#writeContent(item, place);
    else this.#writeArguments(item, place);
    const done = JSON.stringify(writeItem(item, 'done'));
    this.#pushDone('response.output_item.done', `"output_index":${index},"item":${done}`);
  }

  writeEnd(items: readonly OutputItem[], choice: Choice): void {
    const ending = endingOf(choice, this.#script);
    const output = items.map((item) => writeItem(item, 'completed'));
    const usage = finalUsage(this.#asked, choice, this.#script);
    const response = this.#response.write({ ...ending, output, usage });
    if (!this.#script.omitDone) this.#push(`response.${ending.status}`, `"response":${response}`);
    if (this.#script.addDone) this.#list.push(frameOf('[DONE]'));
  }

  /** All frames, or those before the error. */
  finish(): string[] {
    const { errorAfterChunks, errorWithUsage, usage } = this.#script;
    if (errorAfterChunks !== undefined) {
      this.#list.cut(errorAfterChunks);
      const error = { ...usualError(500), code: 'server_error' };
      this.#push('error', `"error":${errorJson(error)}`);
      const spent = errorWithUsage ? writeUsage(this.#asked, this.#list.spent, usage) : 'null';
      const response = this.#response.write({ status: 'failed', output: [], error, usage: spent });
      this.#push('response.failed', `"response":${response}`);
    }
    return this.#list.frames;
  }

  #writeSummary({ summary }: ReasoningItem, item: Place): void {
    if (summary === '') return;
    const place = { ...item, summary_index: 0 };
    const part = (text: string) => ({ ...place, part: summaryPart(text) });
    this.#push('response.reasoning_summary_part.added', members(part('')));
    this.#writeDeltas('response.reasoning_summary_text', summary, place, true);
    this.#pushDone('response.reasoning_summary_text.done', members({ ...place, text: summary }));
    this.#pushDone('response.reasoning_summary_part.done', members(part(summary)));
  }

  #writeContent(message: MessageItem, item: Place): void {
    const { text, refused } = message;
    const place = { ...item, content_index: 0 };
    const part = (said: string) => members({ ...place, part: contentPart(message, said) });
    this.#push('response.content_part.added', part(''));
    if (refused) {
      this.#writeDeltas('response.refusal', text, place);
      this.#pushDone('response.refusal.done', members({ ...place, refusal: text }));
    } else {
      this.#writeDeltas('response.output_text', text, { ...place, ...NO_LOGPROBS });
      this.#pushDone('response.output_text.done', members({ ...place, ...NO_LOGPROBS, text }));
    }
    this.#pushDone('response.content_part.done', part(text));
  }

  #writeArguments(call: CallItem, place: Place): void {
    const name = 'response.function_call_arguments';
    this.#writeDeltas(name, call.arguments, place);
    this.#pushDone(`${name}.done`, members({ ...place, name: call.name, arguments: call.arguments }));
  }

  #writeDeltas(name: string, whole: string, place: object, isThought = false): void {
    for (const { text, tokens } of splitTokens(whole, this.#script.tokensPerChunk ?? TOKENS_PER_CHUNK)) {
      const takes = { outputTokens: tokens, reasoningTokens: isThought ? tokens : 0 };
      this.#push(`${name}.delta`, members({ ...place, delta: text, ...this.#padding() }), takes);
    }
  }

  #padding(): object {
    if (!this.#request.obfuscated) return {};
    return { obfuscation: PADDING.slice((this.#list.frames.length * 5) % PADDING.length) };
  }

  #push(type: string, rest: string, takes?: Spent): void {
    this.#list.push(eventFrame(type, rest, this.#list.frames.length), takes);
  }

  #pushDone(type: string, rest: string): void {
    if (!this.#script.omitFinish) this.#push(type, rest);
  }
}

const NO_LOGPROBS = { logprobs: [] };

function eventFrame(type: string, rest: string, sequenceNumber: number): string {
  return namedFrameOf(type, `{"type":"${type}",${rest},"sequence_number":${sequenceNumber}}`);
}

/** Hidden reasoning and the start of a tool call use tokens before the first delta. */
function openingTakes(item: OutputItem): Spent {
  if (item.kind === 'call') return { outputTokens: CALL_OPENING_TOKENS, reasoningTokens: 0 };
  const hidden = item.kind === 'reasoning' && item.summary === '' ? item.tokens : 0;
  return { outputTokens: hidden, reasoningTokens: hidden };
}

function members(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}

/** A stream that never finishes, up to the simulator's own limit. */
export function* writeEndlessEvents(
  request: ResponsesRequest,
  asked: AskedUsage,
  script: SimScript,
  host: SimHost,
): Iterable<string> {
  const writer = new EventWriter(request, asked, script, host);
  writer.writeStart();
  yield* writer.finish();
  const id = host.mintId('msg_');
  const message: MessageItem = { kind: 'message', id, text: '', refused: false, status: 'completed' };
  const place = { item_id: id, output_index: 0, content_index: 0 };
  const added = JSON.stringify(openItem(message, 'added'));
  yield eventFrame('response.output_item.added', `"output_index":0,"item":${added}`, 2);
  yield eventFrame('response.content_part.added', members({ ...place, part: contentPart(message, '') }), 3);
  const delta = members({ ...place, ...NO_LOGPROBS, delta: ' and so it goes on' });
  for (let chunk = 0; chunk < LIMITS.simEndlessChunksMax; chunk++) {
    yield eventFrame('response.output_text.delta', delta, chunk + 4);
  }
}
