import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeHosts } from '../src/cli/describe-hosts.ts';
import { runCli } from '../src/cli/run.ts';
import { type Config, type Environment, loadConfig } from '../src/config/config.ts';
import { findLocalHosts } from '../src/hosts/find-local.ts';
import { systemClock } from '../src/kit/clock.ts';
import { compose } from '../src/main/compose.ts';
import { certify } from './egress/certificate.ts';
import { type Harness, startHarness } from './harness.ts';
import { until } from './until.ts';

const USAGE = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
const CHOICE = { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' };
const ANSWER = JSON.stringify({ id: 'x', object: 'chat.completion', model: 'm', choices: [CHOICE], usage: USAGE });
const FRAMES = [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }] })}\n\n`,
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE })}\n\n`,
  'data: [DONE]\n\n',
];
const MODELS = JSON.stringify({ data: [{ id: 'llama', object: 'model', owned_by: 'library' }] });

/** The bodies of all requests that have arrived. */
const uploads: string[] = [];

const GROUP = JSON.stringify({ object: 'job_group', id: 'grp_1', counts: { total: 1 } });

const answer: RequestListener = (incoming, outgoing) => {
  incoming.setEncoding('utf8');
  let body = '';
  incoming.on('data', (text: string) => {
    body += text;
  });
  incoming.on('end', () => {
    uploads.push(body);
    if (incoming.url?.includes('/jobs/groups')) outgoing.end(GROUP);
    else if (incoming.method === 'GET') outgoing.setHeader('content-type', 'application/json').end(MODELS);
    else if (!body.includes('"stream":true')) outgoing.setHeader('content-type', 'application/json').end(ANSWER);
    else {
      outgoing.setHeader('content-type', 'text/event-stream');
      for (const frame of FRAMES) outgoing.write(frame);
      outgoing.end();
    }
  });
};

/** The proxy's process, and what it was asked for. */
class ForwardProxy {
  readonly #process: ChildProcess;
  readonly requests: string[] = [];
  port = 0;

  constructor(credentials: readonly string[]) {
    const script = join(import.meta.dirname, 'forward-proxy.ts');
    this.#process = spawn(process.execPath, [script, ...credentials], { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      const said = JSON.parse(line) as { port?: number; method?: string; target?: string };
      if (said.port !== undefined) this.port = said.port;
      else this.requests.push(`${said.method} ${said.target}`);
    });
  }

  static async start(...credentials: string[]): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(credentials);
    await until(() => proxy.port !== 0, 'the proxy listens');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill();
    await once(this.#process, 'exit');
  }
}

const usual = getCACertificates('default');
const { key, cert } = certify(['model.example', '0.0.0.0']);
const folder = mkdtempSync(join(tmpdir(), 'tollgate-proxies-'));
let proxy: ForwardProxy;
let locked: ForwardProxy;
let plain: Server;
let secure: Server;
let harness: Harness | null = null;

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  setDefaultCACertificates([...usual, cert]);
  [proxy, locked] = await Promise.all([ForwardProxy.start(), ForwardProxy.start('someone:hidden')]);
  plain = await listen(createServer(answer));
  secure = await listen(createTlsServer({ key, cert }, answer));
});

afterEach(async () => {
  proxy.requests.length = 0;
  await harness?.expectCleanBooks();
  await harness?.stop();
  harness = null;
});

afterAll(async () => {
  setDefaultCACertificates(usual);
  for (const server of [plain, secure]) server.close();
  for (const server of [plain, secure]) server.closeAllConnections();
  await Promise.all([proxy.stop(), locked.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Entry {
  readonly base_url: string;
  readonly proxy?: string | false;
}

const https = (): Entry => ({ base_url: `https://model.example:${portOf(secure)}/v1` });
const http = (): Entry => ({ base_url: `http://model.example:${portOf(plain)}/v1` });
/** Not a loopback name, so proxies apply to it, but it can be reached without one. */
const near = (): Entry => ({ base_url: `http://0.0.0.0:${portOf(plain)}/v1` });
const nearTls = (): Entry => ({ base_url: `https://0.0.0.0:${portOf(secure)}/v1` });

function load(entry: Entry, env: Environment): Config {
  const price = { input: 500_000_000, output: 1_500_000_000 };
  const file = { hosts: [{ name: 'far', models: ['far-model'], ...entry }], prices: { 'far-model': price } };
  writeFileSync(join(folder, 'tollgate.config.json'), JSON.stringify(file));
  return loadConfig({ argvFlags: { data: folder }, env, cwd: folder });
}

/** Asks a gateway with this host and environment for a model of that host. */
async function ask(entry: Entry, env: Environment, stream = false): Promise<{ status: number; text: string }> {
  const { hosts, models, prices } = load(entry, env);
  harness = await startHarness({ hosts: () => hosts.filter(({ row }) => !row.simulated), config: { models, prices } });
  const response = await harness.post({ model: 'far-model', messages: [{ role: 'user', content: 'x' }], stream });
  return { status: response.status, text: await response.text() };
}

/** Everything that the operator can read of the last call. */
const logText = (): string => JSON.stringify(harness!.log);

describe('a host behind a proxy', () => {
  it('is reached through a tunnel over https, by streams too', async () => {
    const env = { HTTPS_PROXY: proxy.url };
    expect((await ask(https(), env)).status).toBe(200);
    const target = `model.example:${portOf(secure)}`;
    expect(proxy.requests).toEqual([`CONNECT ${target}`]);
    const streamed = await harness!.post({
      model: 'far-model',
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
    });
    expect(await streamed.text()).toContain('[DONE]');
    // The tunnel was kept.
    expect(proxy.requests.length).toBe(1);
    expect(harness!.running.egress.openConnections).toBe(1);
  });

  it('is asked in absolute form over http, by streams too', async () => {
    expect(await ask(http(), { http_proxy: proxy.url }, true)).toMatchObject({ status: 200 });
    expect(proxy.requests).toEqual([`POST http://model.example:${portOf(plain)}`]);
  });

  it.each([
    ['NO_PROXY', near, { NO_PROXY: '0.0.0.0' }],
    ['NO_PROXY over https', nearTls, { NO_PROXY: '0.0.0.0' }],
    ['"proxy": false', () => ({ ...near(), proxy: false as const }), {}],
  ])('is reached directly with %s', async (_how, entry, env) => {
    expect((await ask(entry(), { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, ...env })).status).toBe(200);
    expect(proxy.requests).toEqual([]);
  });

  it('goes through the proxy of its own entry, not through that of the environment', async () => {
    const env = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '*' };
    expect((await ask({ ...near(), proxy: proxy.url }, env)).status).toBe(200);
    expect(proxy.requests).toEqual([`POST http://0.0.0.0:${portOf(plain)}`]);
  });

  it('is asked through the proxy what it serves, where it is a server of the operator', async () => {
    const env = { HTTP_PROXY: proxy.url, OLLAMA_HOST: `http://gpu.example:${portOf(plain)}` };
    const config = load(http(), env);
    const { hosts } = await findLocalHosts(config.hosts, [], systemClock);
    expect(hosts.find(({ row }) => row.name === 'ollama')?.found?.map(({ id }) => id)).toEqual(['llama']);
    expect(proxy.requests).toEqual([`GET http://gpu.example:${portOf(plain)}`]);
  });

  it('is told with its proxy to the operator, without the password', () => {
    const config = load(https(), { HTTPS_PROXY: 'http://someone:hidden@proxy.example:3128' });
    expect(describeHosts(config.hosts)[0]).toContain('through the proxy http://proxy.example:3128 of HTTPS_PROXY');
  });
});

describe('a proxy that asks for credentials', () => {
  const withCredentials = (credentials: string): string => `http://${credentials}@127.0.0.1:${locked.port}`;

  it.each([
    ['https', https],
    ['http', http],
  ])('gets those of its URL, for an %s host', async (_scheme, entry) => {
    const url = withCredentials('someone:hidden');
    expect((await ask(entry(), { HTTPS_PROXY: url, HTTP_PROXY: url })).status).toBe(200);
    expect(logText()).not.toMatch(/hidden/);
  });

  it.each([
    ['https', https],
    ['http', http],
  ])('fails the call where they are wrong, for an %s host, and the log says so', async (_scheme, entry) => {
    const url = withCredentials('someone:secretly');
    const { status, text } = await ask(entry(), { HTTPS_PROXY: url, HTTP_PROXY: url });
    expect([status, text]).toEqual([502, expect.stringContaining('could not be reached')]);
    expect(text).not.toMatch(/proxy|secretly|127\.0\.0\.1/i);
    expect(logText()).toMatch(new RegExp(`Through the proxy http://127\\.0\\.0\\.1:${locked.port}: .*407`));
    expect(logText()).not.toMatch(/secretly/);
    expect(await harness!.newestReceipt()).toMatchObject({ costNanousd: 0n, lossReason: null });
  });
});

describe('a proxy that is down', () => {
  it.each([
    ['https', https],
    ['http', http],
  ])('fails the call to an %s host: neutral for the caller, clear in the log, no loss', async (_scheme, entry) => {
    const gone = await ForwardProxy.start();
    await gone.stop();
    const url = `http://someone:hidden@127.0.0.1:${gone.port}`;
    const { status, text } = await ask(entry(), { HTTPS_PROXY: url, HTTP_PROXY: url });
    expect([status, text]).toEqual([502, expect.stringContaining('could not be reached')]);
    expect(text).not.toMatch(/proxy|127\.0\.0\.1/i);
    expect(logText()).toContain(`Through the proxy http://127.0.0.1:${gone.port}: connect ECONNREFUSED`);
    expect(logText()).not.toMatch(/hidden/);
    expect(await harness!.newestReceipt()).toMatchObject({ costNanousd: 0n, lossReason: null });
  });
});

describe('a command that calls a gateway on another machine', () => {
  async function command(
    args: readonly string[],
    env: Environment,
  ): Promise<{ code: number; out: string; err: string }> {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = {
      writeOut: (text: string) => void out.push(text),
      writeErr: (text: string) => void err.push(text),
    };
    const composition = compose({ program: 'tollgate', terminal, cwd: folder, clock: systemClock });
    const all = { HOME: folder, TOLLGATE_API_KEY: 'tg_live_x', TOLLGATE_DATA: folder, ...env };
    const code = await runCli(args, all, composition);
    return { code, out: out.join(''), err: err.join('') };
  }

  const at = (entry: Entry): string => entry.base_url.replace(/\/v1$/, '');
  const show = (entry: Entry): string[] => ['jobs', 'show', 'job_1', '--json', '--url', at(entry)];

  it.each([
    ['http', http, () => `GET http://model.example:${portOf(plain)}`],
    ['https', https, () => `CONNECT model.example:${portOf(secure)}`],
  ])('goes through the proxy of the environment, over %s', async (_scheme, entry, request) => {
    const { code, out } = await command(show(entry()), { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
    expect([code, out.trim()]).toEqual([0, MODELS]);
    expect(proxy.requests).toEqual([request()]);
  });

  it('sends a file through it as a whole', async () => {
    const file = `${JSON.stringify({ custom_id: 'x'.repeat(300_000) })}\n`;
    writeFileSync(join(folder, 'batch.jsonl'), file);
    const { code, out } = await command(['jobs', 'submit', 'batch.jsonl', '--json', '--url', at(https())], {
      https_proxy: proxy.url,
    });
    expect([code, out.trim()]).toEqual([0, GROUP]);
    expect([uploads.at(-1)?.length, uploads.at(-1) === file]).toEqual([file.length, true]);
    expect(proxy.requests).toEqual([`CONNECT model.example:${portOf(secure)}`]);
  });

  it('goes directly where NO_PROXY says so', async () => {
    const { code } = await command(show(near()), { HTTP_PROXY: proxy.url, NO_PROXY: '0.0.0.0' });
    expect([code, proxy.requests]).toEqual([0, []]);
  });

  it('names a proxy that refuses it, without the password', async () => {
    const url = `http://someone:secretly@127.0.0.1:${locked.port}`;
    for (const entry of [http(), https()]) {
      const { code, err } = await command(show(entry), { HTTP_PROXY: url, HTTPS_PROXY: url });
      expect([code, err]).toEqual([3, expect.stringContaining(`Through the proxy http://127.0.0.1:${locked.port}: `)]);
      expect(err).not.toContain('secretly');
    }
  });
});
