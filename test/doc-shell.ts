import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { BIN } from '../campaigns/programs.ts';

const run = promisify(execFile);

interface DocShellOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Texts of a page, and what the test uses instead. */
  readonly replaced?: Readonly<Record<string, string>>;
}

/**
 * Runs the shell commands of a page, block by block, as somebody would who copies them into one terminal: variables
 * stay set, `tollgate` and `npx tollgate` are this program, and servers listen on ports of their own.
 */
export class DocShell {
  readonly folder = mkdtempSync(join(tmpdir(), 'tollgate-page-'));
  readonly #servers: ChildProcess[] = [];
  readonly #urls: string[] = [];
  readonly #state = join(this.folder, 'variables.sh');
  readonly #env: Record<string, string>;
  readonly #replaced: Readonly<Record<string, string>>;

  constructor({ env = {}, replaced = {} }: DocShellOptions = {}) {
    const programs = join(this.folder, 'bin');
    const home = join(this.folder, 'home');
    for (const folder of [programs, home, join(this.folder, 'data')]) mkdirSync(folder, { mode: 0o700 });
    const shim = `#!/bin/sh\n[ "$1" = tollgate ] && shift\nexec '${process.execPath}' '${BIN}' "$@"\n`;
    for (const name of ['tollgate', 'npx']) {
      writeFileSync(join(programs, name), shim);
      chmodSync(join(programs, name), 0o755);
    }
    writeFileSync(this.#state, '');
    // A command on a page fails if its response is an error.
    writeFileSync(join(home, '.curlrc'), 'fail\nsilent\nshow-error\n');
    this.#replaced = replaced;
    this.#env = processEnvironment(home, {
      PATH: `${programs}:${process.env.PATH}`,
      TOLLGATE_DATA: join(this.folder, 'data'),
      TOLLGATE_LOCAL_HOSTS: 'false',
      ...env,
    });
  }

  /** What the commands print on stdout. Fails with the first command that fails. */
  async run(text: string): Promise<string> {
    const script = `set -aeuo pipefail\n. '${this.#state}'\n${this.#asHere(text)}\nexport -p > '${this.#state}'`;
    const { stdout } = await run('bash', ['-c', script], { cwd: this.folder, env: this.#env });
    return stdout;
  }

  /** Runs a block whose last command serves, and goes on when it listens. */
  async serve(text: string): Promise<void> {
    const script = `set -aeuo pipefail\n. '${this.#state}'\n${this.#asHere(text)}`;
    const env = { ...this.#env, TOLLGATE_PORT: '0', TOLLGATE_OPERATIONS_PORT: '0' };
    // A group of its own, so that the shell and the server in it end together.
    const server = spawn('bash', ['-c', script], { cwd: this.folder, env, detached: true });
    this.#servers.push(server);
    this.use(await listening(server));
  }

  /** The first gateway is the one that pages call `http://127.0.0.1:8080`. */
  use(url: string): void {
    this.#urls.push(url);
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      if (server.pid === undefined || server.exitCode !== null) continue;
      const ended = once(server, 'exit');
      process.kill(-server.pid, 'SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #asHere(text: string): string {
    const [first] = this.#urls;
    const pairs = [
      ...Object.entries(this.#replaced),
      ...this.#urls.map((url, at) => [`http://gateway-${at + 1}.example:8080`, url] as const),
      ...(first === undefined ? [] : [['http://127.0.0.1:8080', first] as const]),
    ];
    return pairs.reduce((result, [said, meant]) => result.replaceAll(said, meant), text);
  }
}

async function listening(server: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise<string>((ready, fail) => {
    server.stderr!.on('data', (chunk) => {
      printed += chunk;
      const url = /listening on (http:\S+)/.exec(printed)?.[1];
      if (url !== undefined) ready(url);
    });
    server.once('exit', (code) => fail(new Error(`The server ended with ${code}: ${printed}`)));
  });
}
