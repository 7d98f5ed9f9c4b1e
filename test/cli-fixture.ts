import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCatalog } from '../src/catalog/catalog.ts';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import type { Composition, FolderHeld, Holder, OpenServices } from '../src/cli/composition.ts';
import type { Finding } from '../src/cli/finding.ts';
import { runCli } from '../src/cli/run.ts';
import type { Config, Environment } from '../src/config/config.ts';
import { MasterKeyring } from '../src/custody/keyring.ts';
import { type Clock, ManualClock } from '../src/kit/clock.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { LIMITS } from '../src/limits.ts';
import { catalogFor } from '../src/main/prices.ts';
import { answerOperator, type OperatorServices } from '../src/operator/operator.ts';
import { MemoryStore } from '../src/store/memory/memory-store.ts';
import { operatorServices } from './operator-services.ts';

const NOW_MS = Date.UTC(2026, 10, 15, 12);

export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A command line with an in-memory ledger in its own folder, with or without a server that has it open. */
export class CliFixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
  readonly keyFile = join(this.folder, 'master.key');
  readonly clock = new ManualClock(NOW_MS);
  readonly store = new MemoryStore(this.clock);
  program = 'tollgate';
  readonly served: Config[] = [];
  /** What `doctor` finds out about host keys. */
  keyFindings: Finding[] = [];
  /** Emits `request` for every request to a server that does not answer. */
  readonly askedMeanwhile = new EventEmitter();
  /** How often the ledger was opened and closed. */
  opened = 0;
  closed = 0;
  /** The process that is said to have the data folder. */
  holder: Holder | null = null;
  /** What the first calls of openServices return: that another process has the folder. */
  readonly held: FolderHeld[] = [];
  /** A command's short pauses pass at once; what it waits for longer passes when a test advances the clock. */
  readonly #commandClock: Clock = {
    nowMs: () => this.clock.nowMs(),
    monotonicMs: () => 0,
    after: (ms, run) => (ms <= LIMITS.folderRetryMs ? runAtOnce(run) : this.clock.after(ms, run)),
  };
  #services: OperatorServices | null = null;
  #server: Server | null = null;

  async services(): Promise<OperatorServices> {
    if (this.#services !== null) return this.#services;
    const { epoch } = await this.store.beginInstance();
    const file = loadSimulatedFile();
    const catalog = buildCatalog({ rows: file.models, hosts: new Set(['sim']), version: file.version });
    this.#services = operatorServices({
      store: this.store,
      clock: this.clock,
      ledger: new Ledger({ store: this.store, clock: this.clock, epoch }),
      catalog: () => catalog,
      masterKeys: () => new MasterKeyring({ kind: 'own-file', path: this.keyFile, source: 'the data folder' }),
    });
    return this.#services;
  }

  async run(args: readonly string[], env: Environment = {}): Promise<CliRun> {
    const out: string[] = [];
    const err: string[] = [];
    const composition: Composition = {
      serve: async (config) => {
        this.served.push(config);
        return 0;
      },
      openServices: () => this.#open(),
      hasLedger: (folder) => existsSync(folder),
      findHolder: async () => this.holder,
      copyStore: async () => ({ refused: 'These books are in memory.' }),
      acceptLoss: async () => ({ refused: 'Nothing is missing.' }),
      compactStore: async () => ({ refused: 'These books are in memory.' }),
      restoreStore: async () => ({ refused: 'These books are in memory.' }),
      examineDatabase: async ({ name }) => [{ check: 'server', status: 'ok', detail: name, remedy: null }],
      migrateDatabase: async () => ['1 ledger'],
      lookForHosts: async (config) => config,
      examineKeys: async () => this.keyFindings,
      download: async () => ({ refused: 'nothing is downloaded here' }),
      sendThroughProxy: () => Promise.reject(new Error('no proxy is asked here')),
      catalogFor: (config) => catalogFor(config, config.hosts),
      program: this.program,
      terminal: { writeOut: (text) => void out.push(text), writeErr: (text) => void err.push(text) },
      cwd: this.folder,
      clock: this.#commandClock,
    };
    const code = await runCli(args, { TOLLGATE_DATA: this.folder, ...env }, composition);
    return { code, out: out.join(''), err: err.join('') };
  }

  /** The parsed answer of a command that must succeed. */
  async json(args: readonly string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await this.run([...args, '--json']);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`);
    return JSON.parse(out);
  }

  /** From now on a server has the ledger open: verbs reach it over a real socket, and nobody else can open it. */
  async startServer(): Promise<string> {
    const services = await this.services();
    const socketPath = join(this.folder, 'control.sock');
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const verb = request.url?.replace('/operator/', '') ?? '';
        void answerOperator(services, verb, Buffer.concat(chunks).toString()).then(({ status, body }) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end(body),
        );
      });
    });
    await new Promise<void>((resolve) => this.#server?.listen(socketPath, resolve));
    return socketPath;
  }

  /** The server accepts connections from now on, but answers nothing, as a stopped process does. */
  stopAnswering(): void {
    this.#server?.removeAllListeners('request');
    this.#server?.on('request', () => this.askedMeanwhile.emit('request'));
  }

  /** The server closes the connection before it answers. */
  dropConnections(): void {
    this.#server?.closeAllConnections();
  }

  async stopServer(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server !== null) await new Promise((resolve) => server.close(resolve));
  }

  async remove(): Promise<void> {
    await this.stopServer();
    rmSync(this.folder, { recursive: true });
  }

  async #open(): Promise<OpenServices | FolderHeld> {
    const held = this.held.shift();
    if (held !== undefined) return held;
    if (this.#server !== null) {
      const socketPath = join(this.folder, 'control.sock');
      return { heldBy: { pid: 4711, url: 'http://127.0.0.1:8080', socketPath, startedMs: NOW_MS } };
    }
    this.opened += 1;
    const close = async () => {
      this.closed += 1;
    };
    return { services: await this.services(), close };
  }
}

function runAtOnce(run: () => void): { cancel(): void } {
  queueMicrotask(run);
  return { cancel: () => {} };
}
