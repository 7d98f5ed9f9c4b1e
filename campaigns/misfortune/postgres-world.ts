import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configOf, type Key, MODEL } from '../kill/world.ts';
import { Gateway, type GatewayTerms, isAlive } from './gateway.ts';
import { poll } from './poll.ts';
import { auditPostgres } from './postgres-audit.ts';
import { type PostgresStage, runSql } from './postgres-stage.ts';
import type { Round } from './round.ts';
import { StallingProxy } from './stalling-proxy.ts';
import { Traffic } from './traffic.ts';

const SOCKET = '.s.PGSQL.5432';
const READY_MS_MAX = 40_000;

/** Gateways on a database of their own, each behind a proxy that can stop passing bytes. */
export class PostgresWorld {
  readonly database: string;
  readonly stage: PostgresStage;
  readonly round: Round;
  readonly members: readonly Member[];
  readonly #home: string;

  private constructor(round: Round, stage: PostgresStage, home: string, members: readonly Member[]) {
    this.round = round;
    this.stage = stage;
    this.database = databaseOf(round);
    this.members = members;
    this.#home = home;
  }

  /** Runs one round in a new world, and removes it whatever happens. */
  static async use(round: Round, gateways: number, run: (world: PostgresWorld) => Promise<void>): Promise<void> {
    const stage = await round.stage.postgres();
    await stage.createDatabase(databaseOf(round));
    const home = join(round.stage.folder, round.name);
    const members: Member[] = [];
    const world = new PostgresWorld(round, stage, home, members);
    try {
      for (let number = 0; number < gateways; number++) {
        members.push(await Member.create(round, world.url, join(home, String(number))));
      }
      await Promise.all(members.map((member) => member.start()));
      await run(world);
    } finally {
      await world.#end();
    }
  }

  /** Of the database itself, past every proxy. */
  get url(): string {
    return this.stage.server.url(this.database);
  }

  get keys(): readonly Key[] {
    return this.stage.keys;
  }

  sql<Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return runSql<Row>(this.url, text, values);
  }

  /** Starts again every gateway that has ended, if it ended with a refusal. */
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
  readonly proxy: StallingProxy;
  readonly traffics: Traffic[] = [];
  /** Versions of the price lists that it has announced. */
  readonly priceVersions = new Set<string>();
  readonly #round: Round;
  readonly #terms: GatewayTerms;
  #gateway: Gateway | null = null;

  private constructor(round: Round, proxy: StallingProxy, terms: GatewayTerms) {
    this.#round = round;
    this.proxy = proxy;
    this.#terms = terms;
  }

  static async create(round: Round, databaseUrl: string, folder: string): Promise<Member> {
    mkdirSync(folder, { recursive: true });
    const own = new URL(databaseUrl);
    const path = join(own.searchParams.get('host')!, SOCKET);
    const proxy = await StallingProxy.open({ path }, join(folder, SOCKET));
    own.searchParams.set('host', folder);
    const { cacheFolder } = round.stage;
    const terms = { folder, configFile: join(folder, 'config.json'), cacheFolder, storeUrl: own.href };
    const member = new Member(round, proxy, terms);
    member.#writeConfig([MODEL]);
    return member;
  }

  get gateway(): Gateway {
    if (this.#gateway === null) throw new Error('The gateway does not run.');
    return this.#gateway;
  }

  async start(): Promise<void> {
    const started = await Gateway.start(this.#terms);
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
    this.gateway.signal('SIGHUP');
    await poll(async () => (await this.#priceVersion()) !== before, 'the reloaded config is in force');
    this.priceVersions.add(await this.#priceVersion());
  }

  traffic(keys: readonly Key[], models: readonly string[] = [MODEL]): Traffic {
    const { name, random, stage } = this.#round;
    const label = `${name}-${this.#terms.folder.split('/').at(-1)}-${this.traffics.length}`;
    const terms = { url: this.gateway.url, keys, upstream: stage.upstream, name: label, random, models };
    const traffic = new Traffic({ ...terms, callsMax: CALLS_MAX });
    this.traffics.push(traffic);
    return traffic;
  }

  async end(): Promise<void> {
    this.proxy.pass();
    if (this.#gateway !== null && isAlive(this.#gateway.pid)) this.#gateway.signal('SIGCONT');
    await this.#gateway?.end('SIGKILL');
    await this.proxy.close();
  }

  #writeConfig(ids: readonly string[]): void {
    const config = configOf(this.#round.stage.upstream.url) as { models: object[] };
    const models = ids.map((id) => ({ ...config.models[0], id }));
    writeFileSync(this.#terms.configFile, JSON.stringify({ ...config, models }));
  }

  async #priceVersion(): Promise<string> {
    const response = await fetch(`${this.gateway.url}/v1/catalog`, {
      headers: { authorization: `Bearer ${(await this.#round.stage.postgres()).keys[0]!.secret}` },
    });
    return ((await response.json()) as { price_version: string }).price_version;
  }
}

const CALLS_MAX = 500;
