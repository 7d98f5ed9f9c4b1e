import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import OpenAI from 'openai';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { type Usage, ZERO_USAGE } from '../src/canonical/usage.ts';
import { SseFramer } from '../src/kit/sse.ts';
import { LIMITS } from '../src/limits.ts';
import type { Bill } from '../src/wires/bill.ts';
import type { RelayTerms, StreamRelay } from '../src/wires/wire.ts';

/** What tests of the responses wire share: recordings, cutting into pieces, the wire's rules, and the official SDK as the reader. */

export type Json = Record<string, unknown>;

export const TERMS: RelayTerms = {
  catalogModel: 'catalog-model',
  requestId: 'req_0123456789',
  createdS: 1_800_000_000,
  nowS: () => 1_800_000_000,
  wantsUsageFrame: true,
  hideReasoning: false,
  request: {},
  quirks: {},
};

export function billFor(usage: Usage = ZERO_USAGE): Bill {
  return { usage, costNanousd: 1_234n, costUsd: 0.000001234, components: null };
}

/** The bill that a complete stream would get: what its relay read. */
function ownBill(relay: { readonly usage: StreamRelay['usage'] }): Bill {
  return billFor(relay.usage.state === 'missing' ? ZERO_USAGE : relay.usage.usage);
}

/** Feeds a stream in pieces of the given size, and ends it as the gateway would. */
export function relayInPieces(relay: StreamRelay, bytes: Buffer, pieceBytes: number): string {
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  const sent: Buffer[] = [];
  const onFrame = (frame: Parameters<StreamRelay['frame']>[0]): void => {
    const out = relay.frame(frame);
    if (out !== null) sent.push(Buffer.from(out));
  };
  for (let at = 0; at < bytes.length; at += pieceBytes) framer.push(bytes.subarray(at, at + pieceBytes), onFrame);
  framer.end(onFrame);
  if (relay.error === null && (relay.terminal || relay.mayEndHere))
    sent.push(Buffer.from(relay.closing(ownBill(relay))));
  return Buffer.concat(sent).toString();
}

export interface ReadEvent {
  readonly name: string | null;
  readonly data: Json;
}

export function eventsIn(text: string): ReadEvent[] {
  const events: ReadEvent[] = [];
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  framer.push(Buffer.from(text), (frame) => {
    if (frame.data !== null && frame.data !== '[DONE]')
      events.push({ name: frame.event, data: JSON.parse(frame.data) });
  });
  return events;
}

export function typesIn(text: string): string[] {
  return eventsIn(text).map(({ data }) => data.type as string);
}

/** Members every event of a type must have, beside `type` and `sequence_number`. */
const IN_PART = ['item_id', 'output_index', 'content_index'];
const IN_SUMMARY = ['item_id', 'output_index', 'summary_index'];
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['response'],
  'response.in_progress': ['response'],
  'response.completed': ['response'],
  'response.incomplete': ['response'],
  'response.failed': ['response'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': [...IN_PART, 'part'],
  'response.content_part.done': [...IN_PART, 'part'],
  'response.output_text.delta': [...IN_PART, 'delta', 'logprobs'],
  'response.output_text.done': [...IN_PART, 'text', 'logprobs'],
  'response.refusal.delta': [...IN_PART, 'delta'],
  'response.refusal.done': [...IN_PART, 'refusal'],
  'response.reasoning_text.delta': [...IN_PART, 'delta'],
  'response.reasoning_text.done': [...IN_PART, 'text'],
  'response.reasoning_summary_part.added': [...IN_SUMMARY, 'part'],
  'response.reasoning_summary_part.done': [...IN_SUMMARY, 'part'],
  'response.reasoning_summary_text.delta': [...IN_SUMMARY, 'delta'],
  'response.reasoning_summary_text.done': [...IN_SUMMARY, 'text'],
  'response.function_call_arguments.delta': ['item_id', 'output_index', 'delta'],
  'response.function_call_arguments.done': ['item_id', 'output_index', 'arguments', 'name'],
  'response.custom_tool_call_input.delta': ['item_id', 'output_index', 'delta'],
  'response.custom_tool_call_input.done': ['item_id', 'output_index', 'input'],
  error: ['error', 'code', 'message', 'param'],
};

/** Every field of a response; each must be present, null if it has no value. */
export const RESPONSE_FIELDS: readonly string[] =
  'id object created_at completed_at status error incomplete_details instructions max_output_tokens max_tool_calls model output parallel_tool_calls previous_response_id reasoning service_tier store temperature text tool_choice tools top_logprobs top_p presence_penalty frequency_penalty truncation usage user metadata background safety_identifier prompt_cache_key'.split(
    ' ',
  );

const ITEM_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  message: ['id', 'status', 'role', 'content'],
  function_call: ['id', 'status', 'call_id', 'name', 'arguments'],
  reasoning: ['id', 'summary'],
};

const PART_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  output_text: ['text', 'annotations', 'logprobs'],
  refusal: ['refusal'],
  reasoning_text: ['text'],
  summary_text: ['text'],
};

const USAGE_MEMBERS = [
  'input_tokens',
  'input_tokens_details',
  'output_tokens',
  'output_tokens_details',
  'total_tokens',
];

function lacks(holder: Json, members: readonly string[], where: string): string[] {
  return members.filter((name) => holder[name] === undefined).map((name) => `${where} lacks ${name}`);
}

/** What is wrong with a response object, by the wire's rules. */
export function faultsOfResponse(response: Json): string[] {
  const faults = lacks(response, RESPONSE_FIELDS, 'response');
  const { id, status, completed_at: completed, service_tier: tier } = response;
  if (status === 'completed' && !Number.isSafeInteger(completed)) faults.push('completed at no time');
  if (String(id).startsWith('gen-')) faults.push(`has the id ${id}`);
  if (![null, 'auto', 'default', 'flex', 'scale', 'priority'].includes(tier as string)) faults.push(`has tier ${tier}`);
  const usage = response.usage as Json | null;
  if (usage !== null) faults.push(...lacks(usage, USAGE_MEMBERS, 'usage'));
  for (const item of (response.output ?? []) as Json[]) faults.push(...faultsOfItem(item));
  for (const tool of (response.tools ?? []) as Json[]) {
    if (tool.type === 'function') faults.push(...lacks(tool, ['name', 'description', 'parameters', 'strict'], 'tool'));
  }
  return faults;
}

function faultsOfItem(item: Json): string[] {
  const parts = [...((item.content ?? []) as Json[]), ...((item.summary ?? []) as Json[])];
  return [
    ...lacks(item, ITEM_MEMBERS[item.type as string] ?? ['id'], `${item.type}`),
    ...parts.flatMap((part) => lacks(part, PART_MEMBERS[part.type as string] ?? ['unknown'], `${part.type}`)),
  ];
}

/** What is wrong with a stream, by the wire's rules: names, numbers, members, identities, order. */
export function faultsOfStream(text: string): string[] {
  const faults: string[] = [];
  const events = eventsIn(text);
  const ids = new Map<number, string>();
  const done = new Set<number>();
  let responseId: unknown = null;
  events.forEach(({ name, data }, at) => {
    const where = `${at} ${data.type}`;
    if (name !== data.type) faults.push(`${where} is named ${name}`);
    if (data.sequence_number !== at) faults.push(`${where} has the number ${data.sequence_number}`);
    faults.push(...lacks(data, REQUIRED[data.type as string] ?? ['known type'], where));
    const response = data.response as Json | undefined;
    if (response !== undefined) {
      responseId ??= response.id;
      if (response.id !== responseId) faults.push(`${where} has another response id`);
      faults.push(...faultsOfResponse(response).map((fault) => `${where}: ${fault}`));
    }
    faults.push(...faultsOfPlace(data, ids, done).map((fault) => `${where}: ${fault}`));
  });
  if (text.includes('[DONE]')) faults.push('has a terminator, which this wire does not');
  const [first, second] = typesIn(text);
  if (first !== 'response.created' || second !== 'response.in_progress') faults.push(`begins with ${first}, ${second}`);
  const last = events.at(-1)?.data;
  if (last?.type === 'response.completed' && done.size !== ids.size) faults.push('completed with items never done');
  for (const [index, item] of (((last?.response as Json)?.output ?? []) as Json[]).entries()) {
    if (ids.get(index) !== undefined && ids.get(index) !== item.id) faults.push(`final item ${index} changed its id`);
  }
  return faults;
}

function faultsOfPlace(data: Json, ids: Map<number, string>, done: Set<number>): string[] {
  const index = data.output_index as number | undefined;
  if (index === undefined) return [];
  const item = data.item as Json | undefined;
  if (data.type === 'response.output_item.added') {
    const repeated = ids.has(index) || index !== ids.size ? ['index out of turn'] : [];
    ids.set(index, item!.id as string);
    return [...repeated, ...faultsOfItem(item!)];
  }
  if (data.type === 'response.output_item.done') done.add(index);
  const id = item?.id ?? data.item_id;
  const faults = item === undefined ? [] : faultsOfItem(item);
  return ids.get(index) === id ? faults : [...faults, `speaks of ${id}, the item is ${ids.get(index)}`];
}

/** What the official SDK makes of a stream: by its iterator, and by its helper, which checks much more. */
export async function readWithSdk(text: string): Promise<{ events: ResponseStreamEvent[]; final: Response }> {
  return await withServer(text, 'text/event-stream', async (client) => {
    const ask = { model: 'catalog-model', input: 'hi' };
    const events: ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create({ ...ask, stream: true })) events.push(event);
    const final = await client.responses.stream(ask).finalResponse();
    return { events, final };
  });
}

/** The SDK's helper without a server, for many streams in a row. */
export async function accumulate(text: string): Promise<Response> {
  const lines = eventsIn(text).map(({ data }) => `${JSON.stringify(data)}\n`);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(lines.join('')));
      controller.close();
    },
  });
  return await ResponseStream.fromReadableStream(stream).finalResponse();
}

export async function readBufferedWithSdk(body: Buffer): Promise<Response> {
  return await withServer(body, 'application/json', (client) =>
    client.responses.create({ model: 'catalog-model', input: 'hi' }),
  );
}

export async function withServer<T>(
  body: string | Buffer,
  type: string,
  use: (client: OpenAI) => Promise<T>,
): Promise<T> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  try {
    return await use(new OpenAI({ apiKey: 'unused', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 }));
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

export interface Recording {
  readonly id: string;
  readonly mode: 'stream' | 'buffered';
  readonly status: number;
  readonly usage: Json | null;
  readonly body: Buffer;
  readonly request: Buffer | null;
}

const CORPUS = resolve(import.meta.dirname, '../../shared/corpus');

/** Recorded traffic of this wire; empty if the recordings are not available, which the tests report. */
export function recordings(): Recording[] {
  const index = join(CORPUS, 'index.json');
  if (!existsSync(index)) return [];
  const { items } = JSON.parse(readFileSync(index, 'utf8')) as { items: (Recording & Json)[] };
  return items
    .filter((item) => item.wire === 'openai-responses')
    .map(({ id, mode, status, usage, response, request }) => ({
      id,
      mode,
      status,
      usage,
      body: readFileSync(join(CORPUS, response as string)),
      request: typeof request === 'string' ? readFileSync(join(CORPUS, request)) : null,
    }));
}

/** A stream written for this project; see fixtures/wires/responses. */
export function fixture(name: string): Buffer {
  return readFileSync(resolve(import.meta.dirname, '../fixtures/wires/responses', `${name}.sse`));
}

/** Events of a host, as frames. */
export function framesOf(events: readonly Json[]): Buffer {
  return Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
