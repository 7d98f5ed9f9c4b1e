import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditedWorld, Auditor, type ReceiptRow } from '../kill/audit.ts';
import { configOf, type Key } from '../kill/world.ts';
import { type Ending, Gateway, type GatewayTerms, isAlive } from './gateway.ts';
import { poll } from './poll.ts';
import type { Round } from './round.ts';
import { Traffic } from './traffic.ts';

interface WorldOptions {
  /** Where the data folder is made; absent: in the round's own folder. */
  readonly place?: string;
  readonly hostUrl?: string;
  /** Settings of the config file. */
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** Refusals of calls that this misfortune may cause, as `503 overloaded`. */
  readonly refusals?: readonly string[];
}

/** A gateway on a data folder of its own, which can be stopped and started again. */
export class SqliteWorld implements AuditedWorld {
  readonly folder: string;
  readonly keys: readonly Key[];
  readonly cappedKey: Key;
  readonly creditsNanousd: ReadonlyMap<string, bigint>;
  readonly terms: GatewayTerms;
  readonly #round: Round;
  readonly #home: string;
  readonly #refusals: readonly string[];
  readonly #traffics: Traffic[] = [];
  #gateway: Gateway | null = null;

  private constructor(round: Round, { place, hostUrl, settings = {}, env = {}, refusals = [] }: WorldOptions) {
    const { stage, name } = round;
    this.#round = round;
    this.#refusals = refusals;
    this.#home = join(stage.folder, name);
    mkdirSync(this.#home, { recursive: true });
    this.folder = join(place ?? this.#home, 'data');
    cpSync(stage.template.folder, this.folder, { recursive: true });
    const configFile = join(this.#home, 'config.json');
    writeFileSync(configFile, JSON.stringify({ ...configOf(hostUrl ?? stage.upstream.url), ...settings }));
    this.terms = { folder: this.folder, configFile, env };
    ({ keys: this.keys, cappedKey: this.cappedKey, creditsNanousd: this.creditsNanousd } = stage.template);
  }

  /** Runs one round in a new world, and removes it whatever happens. */
  static async use(round: Round, options: WorldOptions, run: (world: SqliteWorld) => Promise<void>): Promise<void> {
    const world = new SqliteWorld(round, options);
    try {
      await run(world);
    } finally {
      await world.#end();
    }
  }

  get gateway(): Gateway {
    if (this.#gateway === null) throw new Error('The gateway does not run.');
    return this.#gateway;
  }

  /** Starts the gateway, which must succeed. */
  async start(changed: Partial<GatewayTerms> = {}): Promise<void> {
    const started = await Gateway.start({ ...this.terms, ...changed });
    if (!(started instanceof Gateway)) {
      throw new Error(`The gateway did not start (${started.code ?? started.signal}): ${started.said.join(' ')}`);
    }
    this.#gateway = started;
  }

  async restart(): Promise<void> {
    this.#round.restarts++;
    await this.start();
  }

  /** Starts the gateway; if it refuses, that has to be exit code 3 and one sentence. Returns whether it serves. */
  async tryStart(where: string, changed: Partial<GatewayTerms> = {}): Promise<boolean> {
    this.#round.restarts++;
    const started = await Gateway.start({ ...this.terms, ...changed });
    if (started instanceof Gateway) this.#gateway = started;
    else this.#round.refused(started, where);
    return started instanceof Gateway;
  }

  /** Starts the gateway, which must refuse. */
  async mustRefuse(where: string, changed: Partial<GatewayTerms> = {}): Promise<void> {
    if (!(await this.tryStart(where, changed))) return;
    this.#round.fault(`${where}: the gateway started`);
    await this.gateway.end('SIGTERM');
  }

  traffic(url = this.gateway.url): Traffic {
    const { name, callRandom: random, stage } = this.#round;
    const traffic = new Traffic({
      url,
      keys: this.keys,
      upstream: stage.upstream,
      name: `${name}-${this.#traffics.length}`,
      random,
    });
    this.#traffics.push(traffic);
    return traffic;
  }

  /** Makes one call; resolves to its status. */
  async call(key: Key): Promise<number> {
    const traffic = new Traffic({
      url: this.gateway.url,
      keys: [key],
      upstream: this.#round.stage.upstream,
      name: `${this.#round.name}-${this.#traffics.length}`,
      random: this.#round.callRandom,
      clients: 1,
      callsMax: 1,
    });
    this.#traffics.push(traffic);
    await traffic.end();
    if (traffic.seen.length === 1) return 200;
    return Number(/: (\d{3}) /.exec(traffic.load.refusals[0] ?? '')?.[1] ?? 0);
  }

  /** Calls again while the process is too busy; resolves to the status of the first call that it judged. */
  async judged(key: Key): Promise<number> {
    let status = 0;
    await poll(async () => {
      status = await this.call(key);
      return status !== 503;
    }, 'the process is not too busy for a call');
    return status;
  }

  /** A call of an account with money is answered, within some seconds. */
  async serves(): Promise<void> {
    await poll(async () => (await this.call(this.keys[0]!)) === 200, 'a call is answered again');
  }

  /** As `serves`, but the process may also end; resolves to how it did, or to null. */
  async servesOrEnds(): Promise<Ending | null> {
    const { pid, ended } = this.gateway;
    const isOver = async () => !isAlive(pid) || (await this.call(this.keys[0]!)) === 200;
    await poll(isOver, 'a call is answered again, or the process ends');
    return isAlive(pid) ? null : ended;
  }

  /** The labels of all calls that the ledger has as settled. */
  async settledLabels(): Promise<Set<string>> {
    const list = (await this.gateway.ask('receipts.list', { limit: 1000 })) as { data: ReceiptRow[] };
    return new Set(list.data.filter(({ status }) => status === 'settled').map(({ labels }) => labels.user ?? ''));
  }

  /** Stops the gateway, cleanly or not, and starts it again. */
  async stopAndStart(): Promise<void> {
    await this.gateway.end(this.#round.random.chance(0.5) ? 'SIGTERM' : 'SIGKILL');
    await this.restart();
  }

  /** Compares the ledger with what clients saw; the gateway runs, and every traffic has ended. */
  async audit(): Promise<void> {
    const round = this.#round;
    for (const traffic of this.#traffics.splice(0)) round.take(traffic, this.#refusals);
    const { faults } = await new Auditor(this).audit(round.calls);
    round.faults.push(...faults);
  }

  async #end(): Promise<void> {
    if (this.#gateway !== null && isAlive(this.#gateway.pid)) this.#gateway.signal('SIGCONT');
    await this.#gateway?.end('SIGKILL');
    rmSync(this.#home, { recursive: true, force: true });
  }
}
