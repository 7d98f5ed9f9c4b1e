import type { HostWire } from '../../src/canonical/wire-names.ts';
import type { Random } from '../../test/random.ts';

/** The wires on which a host can stream. */
export const STREAMING_WIRES = ['chat', 'messages', 'responses', 'completions'] as const;
export type StreamingWire = (typeof STREAMING_WIRES)[number];

export type Fields = Record<string, unknown>;

/** An event before it is encoded; data that is not an object is sent as it is. */
export interface Frame {
  readonly event: string | null;
  readonly data: Fields | string;
  /** Text of the model, which may be repeated without harm. */
  readonly isWords?: boolean;
}

/** A valid stream, and where it may end: from `finishAt` on it can end cleanly, at `endAt` it is complete. */
export interface StreamAnswer {
  readonly wire: StreamingWire;
  readonly frames: readonly Frame[];
  readonly finishAt: number;
  readonly endAt: number;
}

const frame = (event: string | null, data: Fields | string, isWords = false): Frame => ({ event, data, isWords });

function words(random: Random): string[] {
  return Array.from({ length: random.between(1, 12) }, () =>
    random.pick(['one ', 'zwei ', 'три ', '四', '🙂 ', '"\\']),
  );
}

export function streamAnswer(wire: StreamingWire, random: Random): StreamAnswer {
  return { wire, ...STREAMS[wire](words(random), random) };
}

type Made = Omit<StreamAnswer, 'wire'>;

const STREAMS: Readonly<Record<StreamingWire, (said: readonly string[], random: Random) => Made>> = {
  chat: chatStream,
  messages: messagesStream,
  responses: responsesStream,
  completions: completionsStream,
};

const CHAT_HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'host-model' };
const chatUsage = (output: number) => ({ prompt_tokens: 9, completion_tokens: output, total_tokens: 9 + output });

function chatStream(said: readonly string[], random: Random): Made {
  const chunk = (delta: Fields, finish: string | null = null) =>
    frame(null, { ...CHAT_HEAD, choices: [{ index: 0, delta, finish_reason: finish }] }, delta.content !== undefined);
  const withTool = random.chance(0.2);
  const frames = [
    chunk({ role: 'assistant' }),
    ...said.map((content) => chunk({ content })),
    ...(withTool ? [chunk({ tool_calls: [chatCall(0)] })] : []),
    chunk({}, withTool ? 'tool_calls' : 'stop'),
    frame(null, { ...CHAT_HEAD, choices: [], usage: chatUsage(said.length) }),
    frame(null, '[DONE]'),
  ];
  return { frames, finishAt: frames.length - 3, endAt: frames.length - 1 };
}

export function chatCall(index: unknown): Fields {
  return { index, id: `call_${String(index)}`, type: 'function', function: { name: 'look', arguments: '{"at":1}' } };
}

function completionsStream(said: readonly string[]): Made {
  const head = { id: 'cmpl-1', object: 'text_completion', created: 1_700_000_000, model: 'host-model' };
  const chunk = (text: string, finish: string | null = null) =>
    frame(null, { ...head, choices: [{ index: 0, text, logprobs: null, finish_reason: finish }] }, finish === null);
  const frames = [
    ...said.map((text) => chunk(text)),
    chunk('', 'stop'),
    frame(null, { ...head, choices: [], usage: chatUsage(said.length) }),
    frame(null, '[DONE]'),
  ];
  return { frames, finishAt: frames.length - 3, endAt: frames.length - 1 };
}

function messagesStream(said: readonly string[], random: Random): Made {
  const event = (data: Fields, isWords = false) => frame(String(data.type), data, isWords);
  const thinking = random.chance(0.3);
  const index = thinking ? 1 : 0;
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'host-model', content: [] };
  const frames = [
    event({
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null, usage: { input_tokens: 9, output_tokens: 1 } },
    }),
    ...(thinking ? thought() : []),
    event({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
    ...said.map((text) => event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }, true)),
    event({ type: 'content_block_stop', index }),
    event({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: said.length },
    }),
    event({ type: 'message_stop' }),
  ];
  return { frames, finishAt: frames.length - 2, endAt: frames.length - 1 };
}

function thought(): Frame[] {
  const type = 'content_block_delta';
  return [
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type, index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type, index: 0, delta: { type: 'signature_delta', signature: 'c2VhbA==' } },
    { type: 'content_block_stop', index: 0 },
  ].map((data) => frame(data.type, data));
}

function responsesStream(said: readonly string[]): Made {
  const text = said.join('');
  const part = (words: string) => ({ type: 'output_text', text: words, annotations: [], logprobs: [] });
  const item = (status: string, content: Fields[]) => ({
    id: 'msg_1',
    type: 'message',
    status,
    role: 'assistant',
    content,
  });
  const response = (status: string, more: Fields = {}) => ({ ...RESPONSE, status, ...more });
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const done = item('completed', [part(text)]);
  const usage = { input_tokens: 9, output_tokens: said.length, total_tokens: 9 + said.length };
  const events: Fields[] = [
    { type: 'response.created', response: response('in_progress') },
    { type: 'response.in_progress', response: response('in_progress') },
    { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
    { type: 'response.content_part.added', ...place, part: part('') },
    ...said.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: part(text) },
    { type: 'response.output_item.done', output_index: 0, item: done },
    { type: 'response.completed', response: response('completed', { output: [done], usage }) },
  ];
  const frames = events.map((event, at) =>
    frame(String(event.type), { ...event, sequence_number: at }, 'delta' in event),
  );
  return { frames, finishAt: frames.length - 2, endAt: frames.length - 1 };
}

const RESPONSE: Fields = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'host-model',
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
};

/** A valid response of a host that does not stream. */
export function wholeAnswer(wire: HostWire, random: Random): Fields {
  return WHOLES[wire](words(random).join(''));
}

const WHOLES: Readonly<Record<HostWire, (text: string) => Fields>> = {
  chat: (text) => ({
    ...CHAT_HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: chatUsage(3),
  }),
  completions: (text) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1_700_000_000,
    model: 'host-model',
    choices: [{ index: 0, text, logprobs: null, finish_reason: 'stop' }],
    usage: chatUsage(3),
  }),
  messages: (text) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'host-model',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 3 },
  }),
  responses: (text) => ({
    ...RESPONSE,
    status: 'completed',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
    ],
    usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
  }),
  embeddings: () => ({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: Array.from({ length: 256 }, (_, at) => at / 1000) }],
    model: 'host-model',
    usage: { prompt_tokens: 9, total_tokens: 9 },
  }),
  systemone: () => ({
    model: 'host-model',
    answers: { sure: { type: 'noul', noul: 0.5 } },
    usage: { input_tokens: 9, output_tokens: 0 },
  }),
};
