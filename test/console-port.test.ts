import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Config, ConfigError, loadConfig, TRANSPORTS } from '../src/config/config.ts';
import { type Harness, type HarnessOptions, startHarness } from './harness.ts';
import { enrol, openSession, PUBLIC_URL } from './people.ts';
import { manyTurns } from './until.ts';

const LISTEN: Config['listen'] = {
  host: '127.0.0.1',
  port: 0,
  operationsHost: '127.0.0.1',
  operationsPort: 0,
  consolePort: 0,
};
const PATHS = ['/manage/v1/me', '/openapi.json', '/docs'];

const startWithPort = (options: HarnessOptions = {}): Promise<Harness> =>
  startHarness({ ...options, config: { listen: LISTEN } });

function bearerOf({ folder }: Harness): Record<string, string> {
  return { authorization: `Bearer ${readFileSync(join(folder, 'console.token'), 'utf8').trim()}` };
}

async function statusesOf(url: string, headers: Record<string, string>): Promise<number[]> {
  return Promise.all(PATHS.map(async (path) => (await fetch(url + path, { headers })).status));
}

/** Status and error code. */
async function refusalOf(url: string, init: RequestInit = {}): Promise<[number, string]> {
  const response = await fetch(url, init);
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

describe.each(TRANSPORTS)('a console port over the %s transport', (transport) => {
  let gateway: Harness;
  let consoleUrl: string;
  let bearer: Record<string, string>;
  beforeAll(async () => {
    gateway = await startWithPort({ transport });
    consoleUrl = gateway.running.consoleUrl!;
    bearer = bearerOf(gateway);
  });
  afterAll(() => gateway.stop());

  test('serves the management API and its pages, which are unknown on the callers’ port', async () => {
    expect(new URL(consoleUrl).hostname).toBe('127.0.0.1');
    expect(await statusesOf(consoleUrl, bearer)).toEqual([200, 200, 200]);
    for (const path of [...PATHS, '/nonsense'])
      expect(await refusalOf(gateway.url + path, { headers: bearer })).toEqual([404, 'unknown_url']);
  });

  test('needs the token there too', async () => {
    expect((await fetch(`${consoleUrl}/manage/v1/me`)).status).toBe(401);
  });

  test('serves no calls, health or metrics, while the callers’ port goes on', async () => {
    const call = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }] };
    expect((await gateway.post(call)).status).toBe(200);
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(call) };
    expect(await refusalOf(`${consoleUrl}/v1/chat/completions`, init)).toEqual([404, 'unknown_url']);
    for (const path of ['/', '/v1/models', '/livez', '/metrics'])
      expect(await refusalOf(consoleUrl + path, { headers: bearer })).toEqual([404, 'unknown_url']);
  });

  test('takes its own pages for the gateway’s, and those of the callers’ port for foreign ones', async () => {
    const statusFrom = async (origin: string): Promise<number> =>
      (await fetch(`${consoleUrl}/manage/v1/me`, { headers: { ...bearer, origin } })).status;
    expect(await statusFrom(new URL(consoleUrl).origin)).toBe(200);
    expect(await statusFrom(`http://localhost:${new URL(consoleUrl).port}`)).toBe(200);
    expect(await statusFrom(new URL(gateway.url).origin)).toBe(403);
    expect(await statusFrom('https://app.example')).toBe(403);
  });

  test('gives every answer a request id, also to a path that it does not know', async () => {
    const ids = await Promise.all(
      ['/docs', '/nonsense'].map(async (path) => (await fetch(consoleUrl + path)).headers.get('x-gateway-request-id')),
    );
    expect(ids).toEqual([expect.stringMatching(/^req_/), expect.stringMatching(/^req_/)]);
  });
});

describe('the ports', () => {
  let gateway: Harness | null = null;
  afterEach(async () => {
    await gateway?.stop();
    gateway = null;
  });

  test('share one limit of connections', async () => {
    gateway = await startWithPort();
    const loadLimits = { ...gateway.config.loadLimits, connections: 1 };
    await gateway.stop();
    gateway = await startHarness({ config: { listen: LISTEN, loadLimits } });
    const idle = connect(Number(new URL(gateway.running.consoleUrl!).port), '127.0.0.1');
    const closed = once(idle, 'close');
    idle.write('GET /docs HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    expect(String((await once(idle, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    idle.resume();
    expect((await gateway.get('/livez')).status).toBe(200);
    await closed;
  });

  test('stopping closes the console port and the callers’ port', async () => {
    const stopped = await startWithPort();
    const urls = [`${stopped.running.consoleUrl}/docs`, `${stopped.url}/livez`];
    for (const url of urls) expect((await fetch(url)).status).toBe(200);
    await stopped.stop();
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('stopping lets a request finish that is arriving at the console port', async () => {
    const stopping = await startWithPort();
    const body = JSON.stringify({ name: 'ada' });
    const { authorization } = bearerOf(stopping);
    const client = connect(Number(new URL(stopping.running.consoleUrl!).port), '127.0.0.1');
    const head = `POST /manage/v1/accounts HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n`;
    const rest = `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`;
    // The answer to the first request shows that the beginning of the second has arrived too.
    client.write(`GET /nonsense HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n${head}${rest}`);
    await once(client, 'data');
    await manyTurns();
    const stopped = stopping.stop();
    let answer = '';
    client.on('data', (bytes) => {
      answer += bytes;
    });
    const closed = once(client, 'close');
    client.write(body.slice(5));
    await Promise.all([closed, stopped]);
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
  });

  test('in hosted mode a session opens the console port, and a gateway key only the callers’ port', async () => {
    gateway = await startHarness({ hosted: true, config: { listen: LISTEN, publicUrl: PUBLIC_URL } });
    const { url } = gateway;
    const { consoleUrl, books } = gateway.running;
    const caller = { authorization: `Bearer ${(await gateway.mint()).secret}` };
    const person = await enrol(books, 'ada@example.com', { isOperator: true });
    const manager = { cookie: await openSession(books, person), origin: PUBLIC_URL };
    expect((await fetch(`${consoleUrl}/manage/v1/me`, { headers: manager })).status).toBe(200);
    expect((await fetch(`${consoleUrl}/manage/v1/me`, { headers: caller })).status).toBe(401);
    expect((await gateway.get('/v1/models', caller)).status).toBe(200);
    expect(await refusalOf(`${url}/manage/v1/me`, { headers: caller })).toEqual([404, 'unknown_url']);
    expect(await refusalOf(`${url}/manage/v1/me`, { headers: manager })).toEqual(
      await refusalOf(`${url}/nonsense`, { headers: manager }),
    );
  });

  test('console: false serves the management API nowhere, and writes no token', async () => {
    gateway = await startHarness({ config: { console: false, listen: LISTEN } });
    expect(gateway.running.consoleUrl).toBeNull();
    for (const path of [...PATHS, '/nonsense'])
      expect(await refusalOf(gateway.url + path)).toEqual([404, 'unknown_url']);
    expect(statSync(join(gateway.folder, 'console.token'), { throwIfNoEntry: false })).toBeUndefined();
    expect((await gateway.get('/v1/models')).status).toBe(200);
  });
});

describe('one port for two listeners', () => {
  function problemsOf(argvFlags: Record<string, string | boolean>): string[] {
    const env = { TOLLGATE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') };
    try {
      loadConfig({ argvFlags, env, cwd: '/' });
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.map(({ source, message }) => `${source} ${message}`);
      throw error;
    }
  }

  test('is refused with the names of both settings', () => {
    expect(problemsOf({ port: '8080', consolePort: '8080' })).toEqual([
      '--console-port is the same port as --port; choose another',
    ]);
    expect(problemsOf({ hosted: true, operationsPort: '9464', consolePort: '9464' })).toEqual([
      '--console-port is the same port as --operations-port; choose another',
    ]);
  });

  test('is accepted where only one of them listens, or at different addresses', () => {
    expect(problemsOf({ port: '0', consolePort: '0' })).toEqual([]);
    expect(problemsOf({ operationsPort: '9464', consolePort: '9464' })).toEqual([]);
    expect(problemsOf({ hosted: true, host: '10.0.0.1', operationsPort: '9464', consolePort: '9464' })).toEqual([]);
    expect(problemsOf({ port: '8080', consolePort: '8080', console: false })).toEqual([]);
  });
});
