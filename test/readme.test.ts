import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { anchorOf } from '../site/links.ts';
import { addressOf, linksIn, pageFiles, sidebarOf } from '../site/pages.ts';
import { COMMANDS } from '../src/cli/all-commands.ts';
import { exchange } from '../src/gateway/exchange.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';
import { blocksOf, blocksToRun, faultOf, PAGES_WITH_CODE } from './doc-blocks.ts';
import { DocShell } from './doc-shell.ts';
import { EVERY_ROUTE } from './every-route.ts';

/** Runs what the README and other pages tell people to run, and checks every link and command in them. */

const ROOT = resolve(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const TOLLGATE = join(ROOT, 'bin/tollgate.js');
const folder = mkdtempSync(join(tmpdir(), 'tollgate-readme-'));
const run = promisify(execFile);

let server: ChildProcess;
let url: string;
const printed: string[] = [];

beforeAll(async () => {
  const environment = processEnvironment(folder, { TOLLGATE_LOCAL_HOSTS: 'false' });
  server = spawn(process.execPath, [TOLLGATE, 'serve', '--port', '0', '--data', folder, '--json'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  createInterface({ input: server.stderr! }).on('line', (line) => printed.push(line));
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
  const block = /```http.*\n(x-gateway-[\s\S]*?)```/.exec(README)![1]!;
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

test('the curl of the README is the one that the server prints', () => {
  const [line] = /^curl -i .*$/m.exec(README)!;
  expect(printed.join('\n')).toContain(line.replaceAll('http://127.0.0.1:8080', url));
});

test('the README counts the simulated models that are served without a key', async () => {
  const { data } = (await (await fetch(`${url}/v1/catalog`)).json()) as { data: unknown[] };
  const numbers: Readonly<Record<string, number>> = { four: 4, five: 5, six: 6, seven: 7, eight: 8 };
  expect(numbers[/serves (\w+) simulated models/.exec(README)![1]!]).toBe(data.length);
});

test('the code in the README works as it stands', async () => {
  const code = /```ts.*\n([\s\S]*?)```/.exec(README)![1]!.replace('http://127.0.0.1:8080', url);
  const script = `${code}\nconsole.log(answer.usage.cost_nanousd);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: ROOT });
  expect(stdout.trim()).toBe('22350');
});

test('the commands of the README work while the server runs', async () => {
  const commands = [...README.matchAll(/^npm run -s tollgate -- (.*)$/gm)].map(([, command]) => command!);
  expect(commands.length).toBeGreaterThanOrEqual(3);
  for (const command of commands) {
    const answer = await run(process.execPath, [TOLLGATE, ...command.split(' '), '--data', folder], { cwd: folder });
    expect(answer.stdout).not.toBe('');
  }
});

const PAGES = pageFiles();

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));
}

test.each(PAGES)('every link of %s leads to a page and a heading that exist', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
  const broken = links.filter(([, path = '', anchor]) => {
    const target = path === '' ? page : join(dirname(page), path);
    return !existsSync(join(ROOT, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test('every page is in the list of the README, which is the sidebar of the site too', () => {
  const links = linksIn(sidebarOf(README));
  const addresses = PAGES.map(
    (page) =>
      `/${addressOf(page)!
        .replace(/(^|\/)index\.md$/, '$1')
        .replace(/\.md$/, '')}`,
  );
  const missing = addresses.filter((address) => address !== '/' && !links.includes(address));
  expect(missing, 'Add these pages under "Documentation" in README.md.').toEqual([]);
  expect(links.filter((link) => !addresses.includes(link))).toEqual([]);
  expect(new Set(links).size).toBe(links.length);
});

test.each(PAGES_WITH_CODE)('every code block of %s is run by a test, or says why not', (page) => {
  const faults = blocksOf(page).map((block) => ({ at: `${page}:${block.line}`, fault: faultOf(block) }));
  expect(faults.filter(({ fault }) => fault !== null)).toEqual([]);
});

const PAGES_TO_RUN = PAGES_WITH_CODE.filter(
  (page) => !page.startsWith('docs/start/') && blocksToRun(page, 'sh').length > 0,
);

test.each(PAGES_TO_RUN)('the commands of %s work while the server runs', async (page) => {
  const shell = new DocShell({ env: { TOLLGATE_DATA: folder } });
  shell.use(url);
  try {
    for (const { text } of blocksToRun(page, 'sh')) await shell.run(text);
  } finally {
    await shell.stop();
  }
});

const firstWord = ({ name }: { name: string }): string => name.split(' ', 1)[0]!;
const COMMAND_NAMES = COMMANDS.flatMap((command) =>
  'commands' in command ? command.commands.map((spec) => `${command.name} ${firstWord(spec)}`) : [firstWord(command)],
).concat('help');

test.each(PAGES)('every npm script and command that %s names exists', (page) => {
  const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
  const named = [...read(page).matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].map(([, name]) => name!);
  expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
  const code = [...read(page).matchAll(/`[^`\n]+`|^```sh.*\n[\s\S]*?^```/gm)].map(([text]) => text).join('\n');
  const typed = [...code.matchAll(/(?:`|^|\$ |-- |\.js )tollgate ((?:[a-z][a-z-]* ?)+)/gm)].map(([, words]) =>
    words!.trim(),
  );
  const isCommand = (words: string): boolean =>
    COMMAND_NAMES.some((name) => `${words} `.startsWith(`${name} `) || name.startsWith(`${words} `));
  expect(typed.filter((words) => !isCommand(words))).toEqual([]);
});

test('the README names every billed route, and variables that switch hosts on', () => {
  const routes = EVERY_ROUTE;
  const billed = routes.flatMap((route) => ('run' in route && route.run === exchange ? [`/v1${route.path}`] : []));
  expect(billed.length).toBeGreaterThan(5);
  expect(billed.filter((path) => !README.includes(`\`${path}\``))).toEqual([]);
  const variables = HOST_ROWS.flatMap(({ keyVariables }) => keyVariables);
  const named = [...README.matchAll(/`(\w+_API_KEY)`/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !variables.includes(name))).toEqual([]);
});

test('every path the architecture names is there', () => {
  const paths = [...read('ARCHITECTURE.md').matchAll(/`((?:src|test|docs|bench)\/[\w./<>-]*)`/g)].map(
    ([, path]) => path!,
  );
  expect(paths.filter((path) => !path.includes('<') && !existsSync(join(ROOT, path)))).toEqual([]);
});
