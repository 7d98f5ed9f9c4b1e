import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';

/** The gateway is started in every possible way, and a stop signal is sent to the process that was started. */

const ROOT = resolve(import.meta.dirname, '..');
const BIN = join(ROOT, 'bin/tollgate.js');
/** In a namespace of its own the gateway has process id 1, as in a container. */
const FIRST_PROCESS = ['unshare', '--pid', '--fork', '--mount-proc'];
const hasNamespaces = spawnSync(FIRST_PROCESS[0]!, [...FIRST_PROCESS.slice(1), 'true']).status === 0;
const isWindows = process.platform === 'win32';

let folder: string;
let child: ChildProcess;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-signals-'));
});
afterEach(() => {
  endGroup(child.pid!);
  rmSync(folder, { recursive: true, force: true });
});

interface Way {
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly signal: 'SIGTERM' | 'SIGINT';
}

/** Not SIGINT under npm: where this suite runs in the background, shells ignore it. */
const WAYS: readonly Way[] = [
  { name: 'node bin/tollgate.js serve', command: [process.execPath, BIN, 'serve'], signal: 'SIGINT' },
  { name: 'npm start', command: ['npm', 'start', '--'], cwd: ROOT, signal: 'SIGTERM' },
  { name: 'npx tollgate', command: ['npx', 'tollgate'], signal: 'SIGTERM' },
];

function start(command: readonly string[], cwd: string, env: Record<string, string> = {}): void {
  const [program, ...args] = command;
  const options = ['--port', '0', '--data', join(folder, 'data'), '--json', '--log-level', 'error', '--no-local-hosts'];
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  child = spawn(program!, [...args, ...options], {
    cwd,
    env: processEnvironment(folder, { PATH: path, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a process group of its own, so that a test that fails can end all of it.
    detached: true,
  });
  child.stderr!.resume();
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // No process of the group is left, as it should be.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function readyUrl(): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.startsWith('{')) return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('The gateway ended before it was ready.');
}

/** A stream that still runs when the signal comes. */
async function startStream(url: string): Promise<{ rest(): Promise<string> }> {
  const body = { model: 'sim-gpt', stream: true, messages: [{ role: 'user', content: 'hello' }] };
  const sim = { words: 40, tokensPerChunk: 1, chunkDelayMs: 20 };
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, sim }),
  });
  const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  let text = (await chunks.next()).value ?? '';
  const rest = async (): Promise<string> => {
    for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) text += chunk.value;
    return text;
  };
  return { rest };
}

/** The pipe of its output closes when the last process that writes to it has ended. */
const everyProcessEnds = (): Promise<unknown> => once(child, 'close');

/** The process that `unshare` started, as this namespace sees it. */
const firstProcess = (): number => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());

describe.skipIf(isWindows)('a gateway that is told to stop finishes its calls, and no process is left', () => {
  test.each(WAYS)(
    '$name',
    async ({ command, cwd = folder, signal }) => {
      mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
      symlinkSync(BIN, join(folder, 'node_modules/.bin/tollgate'));
      start(command, cwd);
      const stream = await startStream(await readyUrl());
      const ended = everyProcessEnds();
      child.kill(signal);
      expect(await stream.rest()).toContain('data: [DONE]');
      await ended;
    },
    60_000,
  );

  test.skipIf(!hasNamespaces)(
    'as the first process of a container (skipped where there are no namespaces)',
    async () => {
      start([...FIRST_PROCESS, process.execPath, BIN, 'serve'], folder);
      const stream = await startStream(await readyUrl());
      const ended = everyProcessEnds();
      process.kill(firstProcess(), 'SIGTERM');
      expect(await stream.rest()).toContain('data: [DONE]');
      expect(await ended).toEqual([0, null]);
    },
    60_000,
  );
});

test.skipIf(!hasNamespaces)(
  'a gateway that waits for its database stops too, as the first process of a container',
  async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, 'connection');
    start([...FIRST_PROCESS, process.execPath, BIN, 'serve'], folder, {
      TOLLGATE_STORE: `postgres://tollgate@127.0.0.1:${port}/tollgate`,
    });
    const [socket] = await asked;
    const ended = everyProcessEnds();
    process.kill(firstProcess(), 'SIGTERM');
    expect(await ended).toEqual([128 + 15, null]);
    socket.destroy();
    silent.close();
  },
  60_000,
);

test.skipIf(isWindows)(
  'a gateway stops although its trace collector takes the last spans and never answers',
  async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    start([process.execPath, BIN, 'serve'], folder, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
    });
    const stream = await startStream(await readyUrl());
    const asked = once(silent, 'connection');
    const ended = everyProcessEnds();
    child.kill('SIGTERM');
    expect(await stream.rest()).toContain('data: [DONE]');
    const [socket] = await asked;
    expect(await ended).toEqual([0, null]);
    socket.destroy();
    silent.close();
  },
  60_000,
);

test.skipIf(isWindows)(
  'Ctrl-C that arrives twice, from the terminal and from npm, lets calls finish too',
  async () => {
    start([process.execPath, BIN, 'serve'], folder);
    const stream = await startStream(await readyUrl());
    const ended = everyProcessEnds();
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect(await stream.rest()).toContain('data: [DONE]');
    expect(await ended).toEqual([0, null]);
  },
  60_000,
);

test.skipIf(isWindows)(
  'a gateway that is told to reload while its code is loaded and its config is read does so once it runs',
  async () => {
    // Opening a pipe waits for the other side, so it is open when the gateway reads its config.
    const config = join(folder, 'pipe');
    const makePipe = (): void => void execFileSync('mkfifo', [config]);
    makePipe();
    start([process.execPath, BIN, 'serve', '--config', config], folder);
    const ended = everyProcessEnds().then(() => expect.unreachable('The gateway has ended.'));
    const isRead = async (): Promise<void> => {
      const pipe = await Promise.race([open(config, 'w'), ended]);
      child.kill('SIGHUP');
      await pipe.writeFile('{}');
      // Another pipe for the next reading: this one may still be open then, for a moment.
      rmSync(config);
      makePipe();
      await pipe.close();
    };
    await isRead();
    await isRead();
  },
  20_000,
);

test.skipIf(isWindows)(
  'a gateway that is told to reload while it starts does so once it runs',
  async () => {
    const sent = join(folder, 'sent');
    writeFileSync(join(folder, 'keys'), randomBytes(32).toString('base64'), { mode: 0o600 });
    // The start runs this command for the master keys, after it has read the config. A config that is invalid by then
    // is named only if it is read again.
    const spoil = `touch ${sent}; echo invalid > ${folder}/tollgate.config.json; kill -HUP $PPID`;
    const command = `[ -e ${sent} ] || { ${spoil}; }; cat ${folder}/keys`;
    start([process.execPath, BIN, 'serve', '--workers', '1'], folder, { TOLLGATE_MASTER_KEY_COMMAND: command });
    for await (const line of createInterface({ input: child.stdout! }))
      if (line.includes('Reloading the config failed')) return;
    expect.unreachable('The gateway has ended.');
  },
  20_000,
);
