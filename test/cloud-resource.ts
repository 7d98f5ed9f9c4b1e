import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certified } from './egress/certificate.ts';

/** One request as the resource got it. */
interface ResourceCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface ResourceAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** A caller's own resource at a cloud provider: it requires its key in `api-key` and serves deployments by name. */
export interface CloudResource {
  readonly origin: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly calls: readonly ResourceCall[];
  /** The key that it accepts; may change, like a key that is rotated at the provider. */
  key: string;
  /** Replaces the answer to every request with the right key; 'hang' never answers. */
  answer: ((call: ResourceCall) => ResourceAnswer | 'hang' | null) | null;
  /** Called when the client has left before the answer. */
  onGone: () => void;
  reset(): void;
  close(): Promise<void>;
}

export const DEPLOYMENT = 'my-own-gpt';
const PREFIX = '/openai/v1';

/** With a certificate it speaks https, and closes each connection after its answer. */
export async function startResource(key: string, certified?: Certified): Promise<CloudResource> {
  const calls: ResourceCall[] = [];
  const resource = {
    calls,
    key,
    answer: null as CloudResource['answer'],
    onGone: () => {},
    reset: () => {
      calls.length = 0;
      resource.answer = null;
      resource.onGone = () => {};
      resource.key = key;
    },
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (certified !== undefined) response.setHeader('connection', 'close');
    response.on('close', () => response.writableFinished || resource.onGone());
    void respond(resource, calls, request, response);
  };
  const server = certified === undefined ? createServer(onRequest) : createTlsServer(certified, onRequest);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `${certified === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  return Object.assign(resource, { origin, port, baseUrl: origin + PREFIX, close: () => close(server) });
}

function close(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}

async function respond(
  resource: Pick<CloudResource, 'key' | 'answer'>,
  calls: ResourceCall[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const { method = '', url = '', headers } = request;
  const call = { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') };
  calls.push(call);
  const answer = headers['api-key'] === resource.key ? (resource.answer?.(call) ?? usualAnswer(call)) : REFUSED;
  if (answer === 'hang') return;
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  response.end(answer.body);
}

const REFUSED: ResourceAnswer = {
  status: 401,
  body: '{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}',
};

export const NO_DEPLOYMENT: ResourceAnswer = {
  status: 404,
  body: '{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist.","innererror":{"hint":"wait"}}}',
};

/** Unusual on purpose: spaces, members that no other host sends, numbers in a form that only this host writes. */
export const CHAT_ANSWER =
  '{ "id":"chatcmpl-own","object":"chat.completion","created":1700000000,"model":"gpt-own-2026-01-01","system_fingerprint":"fp_1",' +
  '"choices":[{"index":0,"finish_reason":"stop","logprobs":null,"message":{"role":"assistant","content":"Hello from my own.","refusal":null},' +
  '"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}],' +
  '"prompt_filter_results":[{"prompt_index":0}],"usage":{"prompt_tokens":11,"completion_tokens":5,"total_tokens":16,"odd":1.0}}';

export const CHAT_FRAMES = [
  'data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}\n\n',
  'data: {"id":"chatcmpl-own","object":"chat.completion.chunk","created":1700000000,"model":"gpt-own-2026-01-01","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n',
  'data: {"id":"chatcmpl-own","object":"chat.completion.chunk","created":1700000000,"model":"gpt-own-2026-01-01","choices":[{"index":0,"delta":{"content":"Hello "},"finish_reason":null,"content_filter_results":{}}]}\n\n',
  'data: {"id":"chatcmpl-own","object":"chat.completion.chunk","created":1700000000,"model":"gpt-own-2026-01-01","choices":[{"index":0,"delta":{"content":"there."},"finish_reason":null}]}\n\n',
  'data: {"id":"chatcmpl-own","object":"chat.completion.chunk","created":1700000000,"model":"gpt-own-2026-01-01","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
];

const RESPONSE = {
  id: 'resp_own',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'gpt-own-2026-01-01',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello from my own.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
};

export const RESPONSE_FRAMES = [
  event('response.created', { response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } }, 0),
  event('response.output_item.added', { output_index: 0, item: { ...RESPONSE.output[0], content: [] } }, 1),
  event(
    'response.output_text.delta',
    { output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'Hello from my own.' },
    2,
  ),
  event('response.output_item.done', { output_index: 0, item: RESPONSE.output[0] }, 3),
  event('response.completed', { response: RESPONSE }, 4),
];

function event(type: string, members: object, sequence: number): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`;
}

const USUAL: Readonly<Record<string, { whole: string; frames: readonly string[] }>> = {
  '/chat/completions': { whole: CHAT_ANSWER, frames: CHAT_FRAMES },
  '/responses': { whole: JSON.stringify(RESPONSE), frames: RESPONSE_FRAMES },
  '/completions': {
    whole:
      '{"id":"cmpl-own","object":"text_completion","created":1,"model":"gpt-own","choices":[{"index":0,"text":"Once.","finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
    frames: [
      'data: {"id":"cmpl-own","object":"text_completion","created":1,"model":"gpt-own","choices":[{"index":0,"text":"Once.","finish_reason":null,"logprobs":null}]}\n\n',
      'data: {"id":"cmpl-own","object":"text_completion","created":1,"model":"gpt-own","choices":[{"index":0,"text":"","finish_reason":"stop","logprobs":null}]}\n\n',
      'data: [DONE]\n\n',
    ],
  },
  '/embeddings': {
    whole:
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.6,0.8]}],"model":"embed-own","usage":{"prompt_tokens":4,"total_tokens":4}}',
    frames: [],
  },
};

function usualAnswer({ method, path, body }: ResourceCall): ResourceAnswer {
  if (method === 'GET' && path === `${PREFIX}/models`) return { status: 200, body: '{"object":"list","data":[]}' };
  const known = USUAL[path.replace(PREFIX, '')];
  if (known === undefined || !path.startsWith(PREFIX)) return { status: 404, body: '{"error":{"code":"404"}}' };
  const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
  if (model !== DEPLOYMENT) return NO_DEPLOYMENT;
  if (stream !== true) return { status: 200, body: known.whole };
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: known.frames.join('') };
}
