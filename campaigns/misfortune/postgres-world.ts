import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { configOf, type Key, MODEL } from '../kill/world.ts';
import { Gateway, isAlive } from './gateway.ts';
import { poll } from './poll.ts';
import { auditPostgres } from './postgres-audit.ts';
import { type PostgresStage, runSql } from './postgres-stage.ts';
import type { Round } from './round.ts';
import { StallingProxy } from './stalling-proxy.ts';
import { Traffic } from './traffic.ts';

const SOCKET = '.s.PGSQL.5432';
const READY_MS_MAX = 40_000;
const LOOKS_PER_RELOAD = 50;
const CALLS_MAX = 500;

/** Gateways on a database of their own, each behind a proxy that can stop passing bytes. */
export class PostgresWorld {
  readonly database: string;
  readonly stage: PostgresStage;
  readonly round: Round;
  readonly members: readonly Member[];
  readonly #joined: Member[];
  readonly #home: string;

  private constructor(round: Round, stage: PostgresStage) {
    this.round = round;
    this.stage = stage;
    this.database = databaseOf(round);
    this.#joined = [];
    this.members = this.#joined;
    this.#home = join(round.stage.folder, round.name);
  }

  /** Runs one round in a new world, and removes it whatever happens. */
  static async use(round: Round, gateways: number, run: (world: PostgresWorld) => Promise<void>): Promise<void> {
    const stage = await round.stage.postgres();
    await stage.createDatabase(databaseOf(round));
    const world = new PostgresWorld(round, stage);
    try {
      await Promise.all(Array.from({ length: gateways }, () => world.join()));
      await run(world);
    } finally {
      await world.#end();
    }
  }

  /** Starts one more gateway. */
  async join(models: readonly string[] = [MODEL]): Promise<Member> {
    const member = new Member(this.round, join(this.#home, String(this.#joined.length)));
    this.#joined.push(member);
    await member.open(this.url, models);
    await member.start();
    return member;
  }

  /** The URL of the database itself, without a proxy. */
  get url(): string {
    return this.stage.server.url(this.database);
  }

  get keys(): readonly Key[] {
    return this.stage.keys;
  }

  sql<Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return runSql<Row>(this.url, text, values);
  }

  /** Restarts every gateway that ended with a refusal. */
  async revive(where: string): Promise<void> {
    for (const member of this.members) {
      if (isAlive(member.gateway.pid)) continue;
      this.round.refused(await member.gateway.ended, where);
      this.round.restarts++;
      await member.start();
    }
  }

  async allReady(): Promise<void> {
    for (const { gateway } of this.members) {
      const isReady = async (): Promise<boolean> => {
        const response = await fetch(`${gateway.url}/readyz`);
        await response.arrayBuffer();
        return response.status === 200;
      };
      await poll(isReady, 'a gateway is ready again', READY_MS_MAX);
    }
  }

  /** Compares the ledger with what clients saw; every traffic has ended. `mayBeGone` are calls that a restore may undo. */
  async audit(mayBeGone: ReadonlySet<string> = new Set()): Promise<void> {
    for (const member of this.members) for (const traffic of member.traffics) this.round.take(traffic);
    this.round.faults.push(...(await auditPostgres(this, mayBeGone)));
  }

  async #end(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end()));
    await this.stage.dropDatabases(this.database);
    rmSync(this.#home, { recursive: true, force: true });
  }
}

function databaseOf({ name }: Round): string {
  return `books_${name}`;
}

/** One gateway of such a world. */
export class Member {
  readonly traffics: Traffic[] = [];
  /** Versions of the price lists that it has announced. */
  readonly priceVersions = new Set<string>();
  readonly #round: Round;
  readonly #folder: string;
  #proxy: StallingProxy | null = null;
  #storeUrl = '';
  #gateway: Gateway | null = null;

  constructor(round: Round, folder: string) {
    this.#round = round;
    this.#folder = folder;
  }

  async open(databaseUrl: string, models: readonly string[]): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    this.#writeConfig(models);
    const own = new URL(databaseUrl);
    const path = join(own.searchParams.get('host')!, SOCKET);
    own.searchParams.set('host', this.#folder);
    this.#storeUrl = own.href;
    this.#proxy = await StallingProxy.open({ path }, join(this.#folder, SOCKET));
  }

  get proxy(): StallingProxy {
    if (this.#proxy === null) throw new Error('The proxy is not open.');
    return this.#proxy;
  }

  get gateway(): Gateway {
    if (this.#gateway === null) throw new Error('The gateway does not run.');
    return this.#gateway;
  }

  async start(): Promise<void> {
    const terms = { folder: this.#folder, configFile: this.#configFile, storeUrl: this.#storeUrl };
    const started = await Gateway.start(terms);
    if (!(started instanceof Gateway)) {
      throw new Error(`The gateway did not start (${started.code ?? started.signal}): ${started.said.join(' ')}`);
    }
    this.#gateway = started;
    this.priceVersions.add(await this.#priceVersion());
  }

  /** Reloads the config with these models, and with them a new price list. */
  async offer(models: readonly string[]): Promise<void> {
    const before = await this.#priceVersion();
    this.#writeConfig(models);
    let looks = 0;
    await poll(async () => {
      // A reload fails while the database is unreachable, so it is repeated.
      if (looks++ % LOOKS_PER_RELOAD === 0) this.gateway.signal('SIGHUP');
      return (await this.#priceVersion()) !== before;
    }, 'the reloaded config is in force');
    this.priceVersions.add(await this.#priceVersion());
  }

  traffic(keys: readonly Key[], models: readonly string[] = [MODEL]): Traffic {
    const { name, callRandom: random, stage } = this.#round;
    const label = `${name}-${basename(this.#folder)}-${this.traffics.length}`;
    const terms = { url: this.gateway.url, keys, upstream: stage.upstream, name: label, random, models };
    const traffic = new Traffic({ ...terms, callsMax: CALLS_MAX });
    this.traffics.push(traffic);
    return traffic;
  }

  async end(): Promise<void> {
    this.#proxy?.pass();
    if (this.#gateway !== null && isAlive(this.#gateway.pid)) this.#gateway.signal('SIGCONT');
    await this.#gateway?.end('SIGKILL');
    await this.#proxy?.close();
  }

  get #configFile(): string {
    return join(this.#folder, 'config.json');
  }

  #writeConfig(ids: readonly string[]): void {
    const config = configOf(this.#round.stage.upstream.url) as { models: object[] };
    const models = ids.map((id) => ({ ...config.models[0], id }));
    writeFileSync(this.#configFile, JSON.stringify({ ...config, models }));
  }

  async #priceVersion(): Promise<string> {
    const response = await fetch(`${this.gateway.url}/v1/catalog`, {
      headers: { authorization: `Bearer ${(await this.#round.stage.postgres()).keys[0]!.secret}` },
    });
    return ((await response.json()) as { price_version: string }).price_version;
  }
}
