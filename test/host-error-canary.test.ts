import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConfiguredHost } from '../src/hosts/host.ts';
import { Secret } from '../src/kit/secret.ts';
import { type Harness, simHost, startHarness } from './harness.ts';

/** A host that puts our key into every field of its errors: no caller, log line or receipt may ever show it. */

const KEY = 'hk/canary+0123456789abcdefghij';
const SPELLINGS = [KEY, encodeURIComponent(KEY)];

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

let host: Server;
let harness: Harness;
let reply: Reply;

beforeAll(async () => {
  host = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(reply.status, { 'content-type': reply.type });
      response.end(reply.body);
    });
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  harness = await startHarness({ hosts: (sim) => [canaryHost(sim)] });
});

function canaryHost(sim: Harness['sim']): ConfiguredHost {
  const baseUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}/v1`;
  return { ...simHost(sim, { baseUrl }), key: new Secret(KEY), keySource: 'test' };
}

afterAll(async () => {
  await harness.stop();
  host.closeAllConnections();
  host.close();
});

const canary = (spelling: string): Record<string, unknown> => ({
  message: `messages: wrong key ${spelling}`,
  type: `type-${spelling}`,
  code: `code-${spelling}`,
  param: `param-${spelling}`,
  status: spelling,
  detail: [{ loc: ['body', spelling], msg: `bad ${spelling}` }],
  metadata: { raw: spelling },
});

const SHAPES: readonly [string, (spelling: string) => unknown][] = [
  ['an error object', (spelling) => ({ error: canary(spelling) })],
  ['a list', (spelling) => [{ error: canary(spelling) }]],
  ['bare members', (spelling) => canary(spelling)],
  ['a text', (spelling) => `wrong key ${spelling}`],
];

const ROUTES: readonly [string, string, Record<string, unknown>][] = [
  ['chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }],
  ['completions', '/v1/completions', { prompt: 'Hello' }],
  ['responses', '/v1/responses', { model: 'sim-responses', input: 'Hello' }],
  ['messages', '/v1/messages', { model: 'sim-claude', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] }],
];

async function expectNoCanary(stream: boolean, path: string, fields: Record<string, unknown>): Promise<void> {
  const lines = harness.log.length;
  const response = await harness.post({ model: 'sim-gpt-mini', stream, ...fields }, {}, path);
  const told = `${await response.text()} ${JSON.stringify([...response.headers])}`;
  await harness.settled();
  const receipt = await harness.get(`/v1/receipts/${response.headers.get('x-gateway-request-id')}`);
  const written = `${told} ${JSON.stringify(harness.log.slice(lines))} ${await receipt.text()}`;
  expect(harness.log.length).toBeGreaterThan(lines);
  for (const spelling of SPELLINGS) expect(written).not.toContain(spelling);
  // A refused key is set aside; a reload lets the next case reach the host again.
  await harness.running.reload(harness.config, [canaryHost(harness.sim)]);
}

describe.each(ROUTES)('on the %s wire', (_, path, fields) => {
  test.each([400, 401, 402, 403, 404, 413, 422, 429, 500, 503])('an HTTP %i never shows the key', async (status) => {
    for (const spelling of SPELLINGS) {
      for (const [, shape] of SHAPES) {
        reply = { status, type: 'application/json', body: JSON.stringify(shape(spelling)) };
        await expectNoCanary(false, path, fields);
        await expectNoCanary(true, path, fields);
      }
    }
  });

  test('an error in place of an answer, or inside a stream, never shows the key', async () => {
    for (const spelling of SPELLINGS) {
      const error = { error: { ...canary(spelling), status: 400 } };
      reply = { status: 200, type: 'application/json', body: JSON.stringify(error) };
      await expectNoCanary(false, path, fields);
      for (const event of ['', 'event: error\n']) {
        const frame = JSON.stringify({ type: 'error', ...error, ...canary(spelling), error: canary(spelling) });
        reply = { status: 200, type: 'text/event-stream', body: `${event}data: ${frame}\n\n` };
        await expectNoCanary(true, path, fields);
      }
    }
  });
});

describe('a host that quotes the prompt in its error', () => {
  const PROMPT = 'words that only the caller may read';
  const MESSAGES = [{ role: 'user', content: PROMPT }];

  const quotePrompt = (): void => {
    const error = { message: `Not allowed: ${PROMPT}`, type: 'invalid_request_error', code: PROMPT, param: null };
    reply = { status: 400, type: 'application/json', body: JSON.stringify({ error }) };
  };

  async function expectUnrecorded(): Promise<void> {
    await harness.settled();
    const metrics = await (await harness.get('/metrics')).text();
    expect(metrics.includes(PROMPT), 'the metrics').toBe(false);
    expect(JSON.stringify(harness.log).includes(PROMPT), 'the log').toBe(false);
    expect(metrics).toContain('tollgate_refusals_total{code="host_refused_request"}');
  }

  test.each<[string, string, object]>([
    ['a call', '/v1/chat/completions', { model: 'sim-gpt-mini', messages: MESSAGES }],
    ['a stream', '/v1/chat/completions', { model: 'sim-gpt-mini', messages: MESSAGES, stream: true }],
    ['a count of tokens', '/v1/messages/count_tokens', { model: 'sim-claude', messages: MESSAGES }],
  ])('answers %s with it, but no log line and no metric has it', async (_, path, body) => {
    quotePrompt();
    const response = await harness.post(body, {}, path);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(PROMPT)]);
    await harness.post({ model: 'sim-claude', messages: MESSAGES }, {}, '/v1/messages/count_tokens');
    await expectUnrecorded();
  });

  test('answers a job with it, but only the encrypted result has it', async () => {
    quotePrompt();
    const job = { endpoint: '/v1/chat/completions', body: { model: 'sim-gpt-mini', messages: MESSAGES } };
    const { id } = (await (await harness.post(job, {}, '/v1/jobs')).json()) as { id: string };
    const ended = await harness.get(`/v1/jobs/${id}?wait=30`);
    expect(await ended.json()).toMatchObject({
      status: 'failed',
      error: {
        code: 'host_refused_request',
        message: "The host refused the request. The job's result contains the host's response.",
      },
    });
    expect(await (await harness.get(`/v1/jobs/${id}/result`)).text()).toContain(PROMPT);
    for (const name of readdirSync(harness.folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(harness.folder, name);
      if (statSync(path).isFile()) expect(readFileSync(path).includes(PROMPT), name).toBe(false);
    }
  });
});
