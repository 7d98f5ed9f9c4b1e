import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseId } from '../../src/kit/ids.ts';
import { MASTER_KEY } from '../gateway-process.ts';
import { processEnvironment } from '../process-environment.ts';
import { BIN } from '../programs.ts';
import { type DatabaseLink, openDatabaseLink } from './database-link.ts';
import { type HostGate, openHostGate } from './host-gate.ts';

interface ReplicaTerms {
  readonly folder: string;
  /** Addresses of the database and the host, which this replica reaches through connections of its own. */
  readonly databaseUrl: string;
  readonly hostUrl: string;
  configFor(hostUrl: string): object;
}

/** One of several gateways on the same database: the real program, which can be killed and started again. */
export class Replica {
  readonly database: DatabaseLink;
  readonly host: HostGate;
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #url = '';
  /** Its latest log lines. */
  readonly said: string[] = [];

  private constructor(folder: string, database: DatabaseLink, host: HostGate) {
    this.#folder = folder;
    this.database = database;
    this.host = host;
  }

  static async create({ folder, databaseUrl, hostUrl, configFor }: ReplicaTerms): Promise<Replica> {
    mkdirSync(folder, { recursive: true });
    const host = await openHostGate(hostUrl);
    const database = await openDatabaseLink(databaseUrl, folder);
    writeFileSync(join(folder, 'tollgate.config.json'), JSON.stringify(configFor(host.url)));
    const replica = new Replica(folder, database, host);
    await replica.start();
    return replica;
  }

  get url(): string {
    return this.#url;
  }

  /** Resolves when the current process is gone. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async start(): Promise<void> {
    this.database.pass();
    this.host.pass();
    const child = this.#spawn();
    this.#child = child;
    this.#ended = new Promise((done) => child.once('close', () => done()));
    endWithThisProcess(child, this.#ended);
    this.#url = await this.#readyUrl(child);
  }

  /** SIGKILL ends it at once; SIGTERM asks it to stop cleanly. */
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child!.kill(signal);
  }

  /** The instance number in every id that it makes now. */
  async number(): Promise<number> {
    const response = await fetch(`${this.#url}/v1/balance`);
    await response.arrayBuffer();
    const id = parseId('req_', response.headers.get('x-gateway-request-id') ?? '');
    if (id === null) throw new Error('The replica gave no request id.');
    return Number((id >> 12n) & 1023n);
  }

  async end(): Promise<void> {
    this.#child?.kill('SIGCONT');
    this.#child?.kill('SIGKILL');
    await this.#ended;
    this.database.close();
    await this.host.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(): ChildProcess {
    const serve = ['serve', '--hosted', '--json', '--port', '0', '--operations-port', '0', '--log-level', 'warn'];
    const place = ['--data', this.#folder, '--config', join(this.#folder, 'tollgate.config.json')];
    const env = processEnvironment(this.#folder, { TOLLGATE_MASTER_KEY: MASTER_KEY });
    const command = [BIN, ...serve, '--no-local-hosts', '--store', this.database.url, ...place];
    return spawn(process.execPath, command, { env, cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  #readyUrl(child: ChildProcess): Promise<string> {
    return new Promise((done, fail) => {
      let complaint = '';
      child.stderr!.on('data', (chunk) => (complaint += chunk));
      child.once('error', fail);
      child.once('close', (code) => fail(new Error(`A replica ended with ${code}: ${complaint}${this.said.join('')}`)));
      createInterface({ input: child.stdout! }).on('line', (line) => {
        this.said.push(line);
        if (this.said.length > LINES_KEPT) this.said.shift();
        const { url } = JSON.parse(line) as { url?: string };
        if (url !== undefined) done(url);
      });
    });
  }
}

const LINES_KEPT = 50;

/** A campaign that is interrupted leaves no replica running. */
function endWithThisProcess(child: ChildProcess, ended: Promise<void>): void {
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  void ended.then(() => process.removeListener('exit', end));
}
