import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** What the README tells a newcomer to type is typed here. */

const ROOT = resolve(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const TOLLGATE = join(ROOT, 'bin/tollgate.js');
const folder = mkdtempSync(join(tmpdir(), 'tollgate-readme-'));
const run = promisify(execFile);

let server: ChildProcess;
let url: string;

beforeAll(async () => {
  const environment = { PATH: process.env.PATH ?? '', HOME: folder, TOLLGATE_LOCAL_HOSTS: 'false' };
  server = spawn(process.execPath, [TOLLGATE, 'serve', '--port', '0', '--data', folder, '--json'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: server.stdout! });
  url = await new Promise<string>((ready, fail) => {
    server.once('exit', (code) => fail(new Error(`serve ended with ${code}`)));
    lines.on('line', (line) => {
      const said = JSON.parse(line) as { url?: string };
      if (said.url !== undefined) ready(said.url);
    });
  });
});

afterAll(async () => {
  const ended = new Promise((done) => server.once('exit', done));
  server.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

function readmeBody(): string {
  return /curl -i .*?-d '([^']+)'/s.exec(README)![1]!;
}

function promisedHeaders(): [string, string][] {
  const block = /The head of the answer is the receipt:\s+```\n([\s\S]*?)```/.exec(README)![1]!;
  return block
    .trim()
    .split('\n')
    .map((line) => line.split(': ') as [string, string]);
}

test('the curl of the README answers with the receipt it shows', async () => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: readmeBody(),
  });
  expect(response.status).toBe(200);
  for (const [name, value] of promisedHeaders()) {
    if (name === 'x-gateway-request-id') expect(response.headers.get(name)).toMatch(/^req_[0-9a-z]{13}$/);
    else expect(response.headers.get(name)).toBe(value);
  }
  const receipt = await fetch(`${url}/v1/receipts/${response.headers.get('x-gateway-request-id')}`);
  expect(receipt.status).toBe(200);
});

test('the commands of the README work while the server runs', async () => {
  const commands = [...README.matchAll(/^npm run -s tollgate -- (.*)$/gm)].map(([, command]) => command!);
  expect(commands.length).toBeGreaterThanOrEqual(3);
  for (const command of commands) {
    const answer = await run(process.execPath, [TOLLGATE, ...command.split(' '), '--data', folder], { cwd: folder });
    expect(answer.stdout).not.toBe('');
  }
});

test('every page the documents link to is there', () => {
  for (const page of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md']) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const links = [...text.matchAll(/\]\(((?!http)[^)#]+)/g)].map(([, target]) => target!);
    expect(links.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
  }
});

test('every page of the documents can be found from the README', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  expect(pages.filter((page) => !README.includes(`(docs/${page})`))).toEqual([]);
});

test('every path the architecture names is there', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const paths = [...text.matchAll(/`((?:src|test|docs|bench)\/[\w./<>-]*)`/g)].map(([, path]) => path!);
  expect(paths.filter((path) => !path.includes('<') && !existsSync(join(ROOT, path)))).toEqual([]);
});
