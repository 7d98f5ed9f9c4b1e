import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './child.ts';
import { HUB_CHUNKS } from './hub-traffic.ts';

/** A host that streams the same words on whichever of three wires it is asked; each frame leaves in a turn of its own. */

const word = (at: number): string => ` token ${at} of this stream`;
const at = Array.from({ length: HUB_CHUNKS }, (_, index) => index);

function named(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function chatFrames(): string[] {
  const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_794_700_800, model: 'bench' };
  const frame = (choices: object[], usage: object | null): string =>
    `data: ${JSON.stringify({ ...head, choices, usage })}\n\n`;
  const choice = (delta: object, finish: string | null): object[] => [
    { index: 0, delta, logprobs: null, finish_reason: finish },
  ];
  return [
    frame(choice({ role: 'assistant', content: '' }, null), null),
    ...at.map((index) => frame(choice({ content: word(index) }, null), null)),
    frame(choice({}, 'stop'), null),
    frame([], { prompt_tokens: 460, completion_tokens: 300, total_tokens: 760 }),
    'data: [DONE]\n\n',
  ];
}

function messagesFrames(): string[] {
  const usage = { input_tokens: 460, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
  const message = {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return [
    named('message_start', { message }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...at.map((index) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word(index) } })),
    named('content_block_stop', { index: 0 }),
    named('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 300 } }),
    named('message_stop', {}),
  ];
}

function responsesFrames(): string[] {
  let sequence = 0;
  const event = (type: string, data: object): string => named(type, { sequence_number: sequence++, ...data });
  const response = {
    id: 'resp_bench',
    object: 'response',
    created_at: 1_794_700_800,
    status: 'in_progress',
    model: 'bench',
    output: [],
    usage: null,
  };
  const text = at.map(word).join('');
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const usage = {
    input_tokens: 460,
    output_tokens: 300,
    total_tokens: 760,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  return [
    event('response.created', { response }),
    event('response.in_progress', { response }),
    event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }),
    event('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...at.map((index) => event('response.output_text.delta', { ...place, delta: word(index), logprobs: [] })),
    event('response.output_text.done', { ...place, text, logprobs: [] }),
    event('response.content_part.done', { ...place, part }),
    event('response.output_item.done', { output_index: 0, item }),
    event('response.completed', { response: { ...response, status: 'completed', output: [item], usage } }),
  ];
}

const FRAMES: Readonly<Record<string, Buffer[]>> = {
  '/v1/chat/completions': chatFrames().map((frame) => Buffer.from(frame)),
  '/v1/messages': messagesFrames().map((frame) => Buffer.from(frame)),
  '/v1/responses': responsesFrames().map((frame) => Buffer.from(frame)),
};

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    sendApart(response, FRAMES[request.url!]!, 0);
  });
});
server.keepAliveTimeout = 600_000;

function sendApart(response: ServerResponse, frames: readonly Buffer[], next: number): void {
  if (next === frames.length) response.end();
  else {
    response.write(frames[next]!);
    setImmediate(sendApart, response, frames, next + 1);
  }
}

server.listen(0, '127.0.0.1', () => announce({ port: (server.address() as AddressInfo).port }));
