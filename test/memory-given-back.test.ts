import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { API_KEY, CustodyFixture } from './custody-fixture.ts';
import { sendRaw } from './raw-client.ts';
import { until } from './until.ts';

/** A limit that is not given back on every path would shut the gateway slowly, so calls end here in every way they can. */

const LARGE = 'a'.repeat(400_000);
const answerOf = (content: string): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
const ANSWER = answerOf(LARGE);
/** More than the sockets of a client that does not read take. */
const HUGE_ANSWER = answerOf(LARGE.repeat(20));
const frame = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const FINISH = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

/** What the host does, by the name of its deployment. */
const HOSTS: Readonly<Record<string, (response: ServerResponse, stream: boolean) => void>> = {
  whole: (response, stream) => response.end(stream ? frame('Hi') + frame(LARGE) + FINISH : ANSWER),
  huge: (response, stream) => response.end(stream ? frame('Hi') + frame(LARGE) + FINISH : HUGE_ANSWER),
  breaks: (response, stream) => {
    response.write(stream ? frame('Hi') + frame(LARGE).slice(0, 300_000) : ANSWER.slice(0, 300_000), () =>
      response.destroy(),
    );
  },
  stalls: (response, stream) => {
    response.write(stream ? frame('Hi') + frame(LARGE).slice(0, 300_000) : ANSWER.slice(0, 300_000));
  },
  fails: (response) =>
    response.writeHead(500, { 'content-type': 'application/json' }).end(`{"error":{"message":"${LARGE}"}}`),
};
const CLIENTS = ['reads', 'leaves', 'leaves at once', 'leaves unread'] as const;

let host: Server;
let custody: CustodyFixture;
beforeEach(async () => {
  host = createServer((request, response) => void answer(request, response));
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
});
afterEach(async () => {
  host.closeAllConnections();
  host.close();
  await custody.stop();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const piece of request) text += piece;
  response.setHeader('content-type', 'application/json');
  if (request.method === 'GET') {
    response.end('{"data":[]}');
    return;
  }
  const { model, stream = false } = JSON.parse(text) as { model: string; stream?: boolean };
  if (stream) response.setHeader('content-type', 'text/event-stream');
  HOSTS[model]!(response, stream);
}

type Client = (typeof CLIENTS)[number];

/** One call; resolves when its client needs nothing more of it. */
async function call(body: object, client: Client, agent: Agent | null, more: Record<string, string>): Promise<void> {
  const sent = sendRaw(`${custody.harness.url}/v1/chat/completions`, body, {
    headers: { authorization: `Bearer ${custody.minted.secret}`, ...more },
    ...(agent === null ? {} : { agent }),
  });
  const closed = new Promise<void>((resolve) => sent.on('close', resolve));
  sent.on('response', (response) => {
    response.on('error', () => {});
    if (client === 'reads') response.resume();
    else if (client === 'leaves') response.once('data', () => sent.destroy());
    else setImmediate(() => sent.destroy());
  });
  if (client === 'leaves at once') sent.on('finish', () => setImmediate(() => sent.destroy()));
  await closed;
}

/** Every way in which a call may end; those that are not streamed are also repeated under their idempotency key. */
function everyCall(agent: Agent): Promise<void>[] {
  const models = Object.keys(HOSTS).flatMap((model) => [false, true].map((stream) => ({ model, stream })));
  return models.flatMap(({ model, stream }) =>
    CLIENTS.flatMap((client) =>
      [null, agent].map((kept) => {
        const body = { model, stream, messages: [{ role: 'user', content: 'hello' }] };
        return call(body, client, kept, stream ? {} : { 'idempotency-key': `${model} ${client}` });
      }),
    ),
  );
}

async function figures(): Promise<Record<string, number>> {
  const text = await (await custody.harness.get('/metrics')).text();
  const found = text.matchAll(/^tollgate_cache_entries\{cache="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, name, figure]) => [name!, Number(figure)]));
}

test.each([1, 2])('calls that end in any way give back all that they took, with %i workers', async (workers) => {
  const limits = { drainMs: 100, bufferedMs: 1_000, firstFrameMs: 1_000, idleMs: 1_000, stallMs: 500, streamMs: 2_000 };
  custody = await CustodyFixture.start({ workers, limits });
  const { port } = host.address() as AddressInfo;
  const put = { api_key: API_KEY, base_url: `http://127.0.0.1:${port}/openai/v1` };
  expect((await custody.keys('PUT', '/cloud', put)).status).toBe(200);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  await Promise.all(everyCall(agent));
  agent.destroy();
  const taken = ['accounts_with_responses', 'keys_with_bodies', 'keys_with_calls'];
  let left: Record<string, number> = {};
  await until(async () => {
    left = await figures();
    return taken.every((name) => left[name] === 0);
  }, 'nothing is taken any more');
  expect(taken.map((name) => left[name])).toEqual([0, 0, 0]);
  const { status } = await custody.chat('whole');
  expect(status).toBe(200);
});
