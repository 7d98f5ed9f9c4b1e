import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CacheSize } from '../../src/kit/caches.ts';
import { type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { Inspector } from './inspector.ts';
import type { Sample } from './verdict.ts';

const CREDIT_NANOUSD = 10n ** 15n;
/** Own models that are offered at a time. */
const MODELS_OFFERED = 3;
const RELOAD_ATTEMPTS_MAX = 100;
const RELOAD_RETRY_MS = 50;
/** High enough for one key to send everything, but tracked like lower ones. */
const RATE_LIMIT = {
  requests_per_second: 100_000,
  burst: 100_000,
  calls: 10_000,
  streams: 10_000,
  body_bytes_per_second: 1_000_000_000,
  json_members_per_second: 1_000_000_000,
};

/**
 * V8 compiles a function again, with optimizations, after 400 and after 3,000 calls. One that runs once a second would get
 * there after most of an hour, and its code would look like a leak. With these options it takes a tenth of the calls.
 */
const COMPILES_EARLY: readonly string[] = [
  '--invocation-count-for-maglev=40',
  '--invocation-count-for-turbofan=300',
  '--minimum-invocations-after-ic-update=50',
];

interface SoakGatewayTerms {
  readonly folder: string;
  readonly workers: number;
  /** Whether the caches have the bounds of the product, not smaller ones. */
  readonly hasFullCaches: boolean;
}

/** A gateway with its simulated host, both processes of their own, that gets ever new accounts, keys and models. */
export class SoakGateway {
  readonly process: GatewayProcess;
  readonly #terms: SoakGatewayTerms;
  readonly #inspector: Inspector;
  readonly #operationsUrl: string;
  readonly #accounts: string[] = [];
  #accountsMade = 0;
  #modelsMade = 0;

  private constructor(terms: SoakGatewayTerms, gateway: GatewayProcess, inspector: Inspector) {
    this.#terms = terms;
    this.process = gateway;
    this.#inspector = inspector;
    this.#operationsUrl = String(gateway.log.find(({ url }) => url === gateway.url)!.operations_url);
  }

  static async start(terms: SoakGatewayTerms): Promise<SoakGateway> {
    const { folder, workers, hasFullCaches } = terms;
    writeConfig(terms, []);
    const inspectorPort = await freePort();
    // Not an option of Node, which the simulated host would get too.
    const env = { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}`, TOLLGATE_WORKERS: String(workers) };
    const nodeOptions = hasFullCaches
      ? []
      : [...COMPILES_EARLY, `--import=${pathToFileURL(join(import.meta.dirname, 'small-caches.ts'))}`];
    const gateway = await startGatewayProcess({ folder, configFile: configFileIn(folder), env, nodeOptions });
    return new SoakGateway(terms, gateway, await Inspector.connect(inspectorPort));
  }

  async openAccount(): Promise<void> {
    const name = `soak-${this.#accountsMade++}`;
    const { id } = (await this.process.ask('accounts.create', { name })) as { id: string };
    await this.process.ask('accounts.credit', { account: id, amount_nanousd: String(CREDIT_NANOUSD) });
    this.#accounts.push(id);
  }

  /** A new key of the latest account. */
  async mintKey(): Promise<string> {
    const minted = await this.process.ask('keys.mint', { account: this.#accounts.at(-1)! });
    return (minted as { secret: string }).secret;
  }

  /** Reloads the config with a model and aliases that there have not been before; returns every name that may be asked for. */
  async offerNewModel(): Promise<string[]> {
    const newest = this.#modelsMade++;
    const numbers = Array.from({ length: MODELS_OFFERED }, (_, at) => newest - at).filter((number) => number >= 0);
    writeConfig(this.#terms, numbers);
    process.kill(this.process.pid, 'SIGHUP');
    for (let attempt = 0; attempt < RELOAD_ATTEMPTS_MAX; attempt++) {
      const { data } = (await this.process.ask('models.list')) as { data: readonly { id: string }[] };
      if (data.some(({ id }) => id === modelName(newest))) return numbers.flatMap(namesOf);
      await new Promise((done) => setTimeout(done, RELOAD_RETRY_MS));
    }
    throw new Error(`The gateway did not reload its config: ${JSON.stringify(this.process.log.at(-1))}`);
  }

  async sample(minute: number): Promise<Sample> {
    const heaps = await this.#inspector.heaps();
    return { minute, heaps, rssMb: residentMb(this.process.pid) };
  }

  async caches(): Promise<CacheSize[]> {
    const text = await (await fetch(`${this.#operationsUrl}/metrics`)).text();
    const figures = (metric: string): Map<string, number> =>
      new Map([...text.matchAll(figuresOf(metric))].map(([, cache, figure]) => [cache!, readFigure(figure!)]));
    const most = figures('tollgate_cache_entries_max');
    return [...figures('tollgate_cache_entries')].map(([cache, entries]) => ({
      cache,
      entries,
      entriesMax: most.get(cache) ?? Number.POSITIVE_INFINITY,
    }));
  }

  async stop(): Promise<void> {
    this.#inspector.close();
    await this.process.stop();
  }
}

function readFigure(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}

function figuresOf(metric: string): RegExp {
  return new RegExp(`^${metric}\\{cache="(\\w+)"\\} (\\S+)$`, 'gm');
}

function configFileIn(folder: string): string {
  return join(folder, 'tollgate.config.json');
}

/** Each has a price of its own, so every reload brings a new price list. */
function writeConfig({ folder, workers }: SoakGatewayTerms, models: readonly number[]): void {
  const rows = models.map((number) => ({
    id: modelName(number),
    aliases: namesOf(number).slice(1),
    // So small that the tokens of most prompts have to be counted, and some prompts are too long.
    context_window: 1_200,
    tokenizer: 'o200k_base',
    price: { input: 1_000_000 + number, output: 2_000_000 + number },
    hosts: [{ host: 'sim', model: 'sim-gpt' }],
  }));
  const config = { simulated_host: true, rate_limit: RATE_LIMIT, workers, models: rows };
  writeFileSync(configFileIn(folder), JSON.stringify(config));
}

function modelName(number: number): string {
  return `soak-model-${number}`;
}

function namesOf(number: number): string[] {
  return [modelName(number), `soak-alias-${number}`, `soak-latest-${number}`];
}

/** As Linux reports it; NaN elsewhere. */
function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
