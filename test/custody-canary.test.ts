import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { BIN } from '../campaigns/programs.ts';
import { type CloudResource, DEPLOYMENT, startResource } from './cloud-resource.ts';

/**
 * A recognisable key is stored, used, refused and echoed by a provider, in a gateway as people start it. The test then
 * looks for it wherever it must not appear.
 */

const CANARY = `canary-${randomBytes(16).toString('hex')}-end`;
const MASTER_KEY = randomBytes(32);
const folder = mkdtempSync(join(tmpdir(), 'tollgate-canary-'));
const books = join(folder, 'books');
const env = processEnvironment(folder, {
  TOLLGATE_DATA: books,
  TOLLGATE_LOCAL_HOSTS: 'false',
  TOLLGATE_MASTER_KEY: MASTER_KEY.toString('base64'),
});

/** Everything that anybody can read: responses with their headers, logs, the output of commands. */
const told: string[] = [];
let resource: CloudResource;
let server: ChildProcess;
let url: string;

async function startServer(): Promise<void> {
  const args = ['serve', '--json', '--port', '0', '--log-level', 'debug'];
  server = spawn(process.execPath, [BIN, ...args], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  server.stderr!.on('data', (chunk) => told.push(String(chunk)));
  url = await new Promise<string>((done, fail) => {
    createInterface({ input: server.stdout! }).on('line', (line) => {
      told.push(line);
      const said = JSON.parse(line) as { url?: string };
      if (said.url !== undefined) done(said.url);
    });
    server.once('exit', (code) => fail(new Error(`The server ended with ${code}: ${told.join('\n')}`)));
  });
}

async function stopServer(): Promise<void> {
  const ended = new Promise((done) => server.once('exit', done));
  server.kill('SIGTERM');
  await ended;
}

beforeAll(async () => {
  resource = await startResource(CANARY);
  await startServer();
});
afterAll(async () => {
  if (server.exitCode === null) server.kill('SIGKILL');
  await resource.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  told.push(JSON.stringify([...response.headers]), text);
  return { status: response.status, text, requestId: response.headers.get('x-gateway-request-id') ?? '' };
}

function put(body: object): Promise<{ status: number }> {
  return ask('PUT', '/v1/keys/cloud', { api_key: CANARY, base_url: resource.baseUrl, ...body });
}

function chat(more: object = {}, headers: Record<string, string> = {}) {
  const body = { model: DEPLOYMENT, messages: [{ role: 'user', content: 'hello' }], ...more };
  return ask('POST', '/v1/chat/completions', body, headers);
}

function tollgate(...args: string[]): Promise<void> {
  return new Promise((done) => {
    execFile(process.execPath, [BIN, ...args], { env, cwd: folder }, (_error, out, err) => {
      told.push(out, err);
      done();
    });
  });
}

/** The key in the wrong places, and every error that refuses it. */
async function misuse(): Promise<void> {
  expect((await put({ base_url: `${resource.origin}/v1` })).status).toBe(422);
  expect((await put({ base_url: `https://${CANARY}/openai/v1` })).status).toBe(422);
  expect((await put({ base_url: `https://me:${CANARY}@host.example/openai/v1` })).status).toBe(422);
  expect((await put({ base_url: CANARY })).status).toBe(422);
  expect((await put({ deployments: [CANARY] })).status).toBe(400);
  expect((await put({ api_key: { [CANARY]: CANARY } })).status).toBe(400);
  expect((await ask('PUT', '/v1/keys/cloud', `{"api_key":"${CANARY}"`)).status).toBe(400);
  expect((await ask('PUT', '/v1/keys/cloud', `{"api_key":"${CANARY}","api_key":"${CANARY}"}`)).status).toBe(400);
  resource.key = 'another';
  expect((await put({})).status).toBe(422);
  expect((await chat()).status).toBe(422);
  resource.key = CANARY;
}

/** A provider that quotes the key wherever it can. */
async function quoteBack(): Promise<void> {
  const quoted = `you sent ${CANARY}`;
  for (const status of [400, 401, 403, 404, 429, 500]) {
    resource.answer = () => ({
      status,
      body: JSON.stringify({ error: { message: quoted, code: CANARY, param: CANARY } }),
    });
    await chat();
    await chat({ stream: true });
    resource.answer = () => ({ status, headers: { 'content-type': 'text/html' }, body: `<p>${quoted}</p>` });
    await chat();
  }
  resource.answer = () => ({ status: 302, headers: { location: `http://x/${CANARY}` }, body: quoted });
  await chat();
  const frames = `data: ${JSON.stringify({ error: { message: quoted } })}\n\n`;
  resource.answer = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: frames });
  await chat({ stream: true });
  resource.answer = () => ({ status: 200, body: quoted });
  await chat();
  resource.answer = null;
}

test('the key is nowhere but at its resource, though it works before and after a restart', async () => {
  expect((await put({})).status).toBe(200);
  await misuse();
  const receipts: string[] = [];
  for (const stream of [false, true]) {
    const { status, requestId } = await chat({ stream }, { 'idempotency-key': `canary-${stream}` });
    expect(status).toBe(200);
    receipts.push(requestId);
  }
  await quoteBack();
  for (const id of receipts) expect((await ask('GET', `/v1/receipts/${id}`)).status).toBe(200);
  for (const path of ['/v1/keys', '/v1/keys/cloud', '/v1/models', '/metrics', '/v1/balance', '/readyz']) {
    expect([path, (await ask('GET', path)).status]).toEqual([path, 200]);
  }
  const listing = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' });
  expect(listing).toContain(String(server.pid));
  await tollgate('seal', 'status');
  await tollgate('seal', 'status', '--json');
  await tollgate('receipts', 'list', '--json');
  await tollgate('config', 'check', '--json');
  await tollgate('doctor', '--json');
  await stopServer();
  const files = readdirSync(books, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const stored = files.map((file) => readFileSync(join(file.parentPath, file.name)));
  expect(files.map(({ name }) => name)).toContain('tollgate.sqlite');
  const secrets = [CANARY, MASTER_KEY.toString('base64'), MASTER_KEY.toString('hex')];
  for (const secret of secrets) {
    expect(told.filter((text) => text.includes(secret))).toEqual([]);
    expect(listing.includes(secret)).toBe(false);
    expect(stored.filter((bytes) => bytes.includes(secret))).toEqual([]);
  }
  expect(stored.filter((bytes) => bytes.includes(MASTER_KEY))).toEqual([]);
  await startServer();
  expect((await chat()).status).toBe(200);
  expect(resource.calls.at(-1)?.headers['api-key']).toBe(CANARY);
});
