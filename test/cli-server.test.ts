import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { BIN } from '../campaigns/programs.ts';
import { freshSchema } from './postgres.ts';

/** The program as people start it: processes of their own, a real folder, a real socket. */

const folder = mkdtempSync(join(tmpdir(), 'tollgate-server-'));
const env = processEnvironment(folder, {
  TOLLGATE_DATA: join(folder, 'books'),
  TOLLGATE_LOCAL_HOSTS: 'false',
  TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64'),
});
let server: ChildProcess;
let url: string;

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function tollgate(...args: string[]): Promise<Run> {
  return new Promise((done) => {
    execFile(process.execPath, [BIN, ...args], { env, cwd: folder }, (error, out, err) => {
      done({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

beforeAll(async () => {
  const args = ['serve', '--hosted', '--json', '--port', '0', '--operations-port', '0', '--log-level', 'silent'];
  server = spawn(process.execPath, [BIN, ...args], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ready = await new Promise<string>((done, fail) => {
    let said = '';
    server.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    createInterface({ input: server.stdout! }).once('line', done);
    server.once('exit', (code) => fail(new Error(`The server ended with ${code}: ${said}`)));
  });
  url = JSON.parse(ready).url;
});

afterAll(async () => {
  if (server.exitCode === null) {
    server.kill('SIGKILL');
    await new Promise((done) => server.once('exit', done));
  }
  rmSync(folder, { recursive: true, force: true });
});

function call(key: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });
}

test('from an account to a billed call to a revoked key, while the server runs', async () => {
  expect((await tollgate('accounts', 'create', 'ada')).code).toBe(0);
  expect((await tollgate('accounts', 'credit', 'ada', '5')).code).toBe(0);
  const minted = JSON.parse((await tollgate('keys', 'mint', '--account', 'ada', '--json')).out);
  const answer = await call(minted.secret);
  expect(answer.status).toBe(200);
  const costNanousd = Number(answer.headers.get('x-gateway-cost-nanousd'));
  const balance = JSON.parse((await tollgate('balance', 'ada', '--json')).out);
  expect(balance).toMatchObject({ balance_nanousd: 5_000_000_000 - costNanousd, spent_nanousd: costNanousd });
  const receipt = await tollgate('receipts', 'show', answer.headers.get('x-gateway-request-id') ?? '', '--json');
  expect(JSON.parse(receipt.out)).toMatchObject({ cost_nanousd: costNanousd, key: minted.id });

  expect((await tollgate('keys', 'revoke', minted.id)).code).toBe(0);
  expect((await call(minted.secret)).status).toBe(401);
  expect(await tollgate('ledger', 'verify')).toMatchObject({ code: 0, err: 'The ledger is exact.\n' });
});

test('a backup is made by the running server, and restored only where no server runs', async () => {
  const backup = await tollgate('store', 'backup', 'today.sqlite');
  expect(backup).toMatchObject({ code: 0, err: expect.stringContaining('exact') });
  expect(backup.out).toContain(join(folder, 'today.sqlite'));
  expect(await tollgate('store', 'backup', 'today.sqlite')).toMatchObject({
    code: 1,
    err: expect.stringContaining('already'),
  });
  const over = await tollgate('store', 'restore', 'today.sqlite', '--force');
  expect(over).toMatchObject({ code: 3, err: expect.stringContaining(`process ${server.pid}`) });
  const beside = await tollgate('store', 'restore', 'today.sqlite', '--data', 'restored', '--json');
  expect(JSON.parse(beside.out)).toMatchObject({ object: 'store_restore', kept_in: null, books: { ok: true } });
  const { out } = await tollgate('accounts', 'list', '--data', 'restored', '--json');
  expect(JSON.parse(out)).toEqual(JSON.parse((await tollgate('accounts', 'list', '--json')).out));
});

test('a ledger that a server has open is not copied', async () => {
  const copy = await tollgate('store', 'copy', '--to', 'postgres://ada:hunter2@127.0.0.1:1/books');
  expect(copy).toMatchObject({ code: 3, err: expect.stringContaining(`process ${server.pid}`) });
  expect(copy.err).not.toContain('hunter2');
});

test('a second server names the process that has the folder, and one on the same port says that it is in use', async () => {
  const second = await tollgate('serve', '--port', '0');
  expect(second.code).toBe(3);
  expect(second.err).toContain(`process ${server.pid}`);
  const taken = await tollgate('serve', '--port', new URL(url).port, '--data', 'other');
  expect(taken.code).toBe(4);
  expect(taken.err).toContain('another with --port.');
  const console = await tollgate('serve', '--port', '0', '--console-port', new URL(url).port, '--data', 'other');
  expect([console.code, console.err]).toEqual([4, expect.stringContaining('another with --console-port.')]);
});

test('a server refuses a data folder that others can write to, and names the command that changes it', async () => {
  const open = join(folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const refused = await tollgate('serve', '--port', '0', '--data', open);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(`Run: chmod go-w ${open}\n`) });
});

test('a stopped server leaves a data folder that the next command opens itself', async () => {
  server.kill('SIGTERM');
  const code = await new Promise((done) => server.once('exit', done));
  expect(code).toBe(0);
  const { out } = await tollgate('accounts', 'list', '--json');
  expect(JSON.parse(out).data.map(({ name }: { name: string }) => name)).toContain('ada');
  expect((await tollgate('ledger', 'verify')).code).toBe(0);
});

test('an invitation without a link names the setting that a hosted gateway lacks', async () => {
  const { code, out, err } = await tollgate('people', 'invite', 'ada@example.com', '--operator');
  expect([code, out]).toEqual([0, expect.stringMatching(/^[\w-]+\n$/)]);
  expect(err).toContain('the gateway does not know its own address. Start it in hosted mode with --public-url');
});

test('an invitation without a link on PostgreSQL names the variable that the command lacks, whatever the gateway knows', async () => {
  const invite = ['people', 'invite', 'ada@example.com', '--operator', '--store', await freshSchema()];
  const { code, err } = await tollgate(...invite);
  expect([code, err]).toEqual([
    0,
    expect.stringContaining('Set TOLLGATE_PUBLIC_URL to it here too, and invite again.'),
  ]);
});
