import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
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
