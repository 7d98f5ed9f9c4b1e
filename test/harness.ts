import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { createAccount, mintKey } from '../src/accounts/accounts.ts';
import type { Receipt } from '../src/canonical/receipt.ts';
import { type Config, loadConfig, type Transport } from '../src/config/config.ts';
import type { ConfiguredHost, HostRow } from '../src/hosts/host.ts';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { createLog } from '../src/kit/log.ts';
import type { GuardedWorld } from '../src/main/custody.ts';
import { type Running, startGateway } from '../src/main/start.ts';
import { startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import type { CapWindow, KeyPermission, OnUnsupported } from '../src/store/store.ts';
import type { PublicPricing } from './catalog-price.ts';
import { copyEmptyLedger } from './ledger-template.ts';
import { NO_RATE_LIMITS, simHost } from './sim-host.ts';
import { until } from './until.ts';

export { NO_RATE_LIMITS, simHost } from './sim-host.ts';

export interface HarnessOptions {
  readonly hosted?: boolean;
  /** Changes to the simulated host's row. */
  readonly row?: Partial<HostRow>;
  readonly limits?: Partial<Config['limits']>;
  readonly config?: Partial<Config>;
  readonly clock?: Clock;
  readonly transport?: Transport;
  /** Uses the data folder of an earlier gateway; the harness then does not delete it. */
  readonly folder?: string;
  readonly hosts?: (sim: Sim) => readonly ConfiguredHost[];
  /** What callers' URLs lead to. */
  readonly world?: GuardedWorld;
  /** Threads that serve calls; with more than one, the clock is the system's. */
  readonly workers?: number;
}

export interface KeyOptions {
  readonly creditNanousd?: bigint;
  readonly capNanousd?: bigint | null;
  readonly capWindow?: CapWindow;
  readonly models?: readonly string[] | null;
  readonly expiresMs?: number | null;
  readonly permissions?: readonly KeyPermission[];
  readonly onUnsupported?: OnUnsupported;
  /** Whose key it is; the person needs a role in the account. */
  readonly personId?: bigint | null;
  readonly maxCostNanousd?: bigint | null;
}

export interface MintedKey {
  readonly secret: string;
  readonly keyId: bigint;
  readonly accountId: bigint;
}

/** A receipt as a caller reads it. */
export interface PublicReceipt {
  readonly id: string;
  readonly status: 'open' | 'settled' | 'voided';
  readonly http_status: number | null;
  readonly ended: string | null;
  readonly usage_source: string;
  readonly usage: Record<string, number> | null;
  readonly components: Record<string, number> | null;
  readonly cost_nanousd: number | null;
  readonly held_nanousd: number;
  readonly price_version: string;
  readonly adjusted: string | null;
}

/** A real gateway on a real port over a real store, in front of a simulated host; all in this process. */
export interface Harness {
  readonly sim: Sim;
  readonly url: string;
  readonly folder: string;
  readonly running: Running;
  readonly config: Config;
  /** How long the gateway waits for running calls when it is stopped. */
  readonly shutdownMs: number;
  /** Parsed log lines, oldest first. */
  readonly log: readonly Record<string, unknown>[];
  openai(apiKey?: string, options?: ConstructorParameters<typeof OpenAI>[0]): OpenAI;
  post(body: unknown, headers?: Record<string, string>, path?: string): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Reads a receipt back as its caller would; throws if it is not there. */
  receipt(requestId: string, apiKey?: string): Promise<PublicReceipt>;
  /** The newest receipt, as the operator sees it, for clients that left before they saw its id. */
  newestReceipt(): Promise<Receipt>;
  catalogEntry(model: string): Promise<{ readonly id: string; readonly pricing: PublicPricing }>;
  /** A prepaid account with that much money, and a key of it. */
  mint(options?: KeyOptions): Promise<MintedKey>;
  /** Another key of an account that is there already. */
  mintFor(accountId: bigint, options?: Omit<KeyOptions, 'creditNanousd'>): Promise<MintedKey>;
  /** Resolves once no call has an open hold, whether or not its client is still connected. */
  settled(): Promise<void>;
  /** Fails unless the ledger is exact and no hold is open. */
  expectCleanBooks(): Promise<void>;
  stop(): Promise<void>;
}

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'tollgate-test-'));
  if (options.folder === undefined) await copyEmptyLedger(folder);
  const clock = options.clock ?? systemClock;
  const sim = await startSim();
  const log: Record<string, unknown>[] = [];
  const hosts = options.hosts?.(sim) ?? [simHost(sim, options.row)];
  const config = testConfig(folder, options);
  const running = await startGateway({
    config,
    hosts,
    clock,
    ...(options.world === undefined ? {} : { world: options.world }),
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    log: createLog({ level: 'debug', destination: { write: (line) => void log.push(JSON.parse(line)) } }),
    onFatal: (error) => {
      throw error;
    },
  });
  const { url } = running;
  const harness: Harness = {
    sim,
    url,
    folder,
    running,
    config,
    shutdownMs: config.limits.shutdownMs,
    log,
    openai: (apiKey = 'unused', more = {}) => new OpenAI({ baseURL: `${url}/v1`, apiKey, ...more }),
    post: (body, headers = {}, path = '/v1/chat/completions') =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) => fetch(url + path, { headers }),
    receipt: (requestId, apiKey) => readReceipt(url, requestId, apiKey),
    newestReceipt: () => readNewestReceipt(running),
    catalogEntry: (model) => readCatalogEntry(url, model),
    mint: (keyOptions) => mint(running, clock, keyOptions),
    mintFor: (accountId, keyOptions) => mintFor(running, clock, accountId, keyOptions),
    settled: () => until(() => running.books.ledger.openHolds === 0, 'every hold is settled'),
    expectCleanBooks: () => expectCleanBooks(running),
    stop: async () => {
      await running.stop();
      await sim.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
  return harness;
}

const NO_LOAD_LIMITS: Config['loadLimits'] = {
  eventLoopLagMs: null,
  heapShare: null,
  residentBytes: null,
  connections: 100_000,
  callsUnderWay: null,
  ledgerDepth: null,
};

function testConfig(folder: string, options: HarnessOptions): Config {
  const config = loadConfig({ argvFlags: { port: '0', data: folder }, env: {}, cwd: folder });
  return {
    ...config,
    hosted: options.hosted ?? false,
    transport: options.transport ?? config.transport,
    listen: { host: '127.0.0.1', port: 0, operationsHost: '127.0.0.1', operationsPort: 0, consolePort: null },
    limits: { ...config.limits, shutdownMs: 500, ...options.limits },
    // Without limits on rate and load, unless a test is about them: tests send many requests, on busy machines.
    rateLimit: NO_RATE_LIMITS,
    loadLimits: NO_LOAD_LIMITS,
    ...options.config,
  };
}

async function readReceipt(url: string, requestId: string, apiKey?: string): Promise<PublicReceipt> {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${url}/v1/receipts/${requestId}`, { headers });
  if (response.status !== 200) throw new Error(`No receipt ${requestId}: ${response.status} ${await response.text()}`);
  return (await response.json()) as PublicReceipt;
}

async function readNewestReceipt({ books }: Running): Promise<Receipt> {
  const anyone = { accountId: null, keyId: null, sinceMs: null };
  const [newest] = await books.store.listReceipts(anyone, { limit: 1, after: null });
  if (newest === undefined) throw new Error('There is no receipt.');
  return newest;
}

async function readCatalogEntry(url: string, model: string): Promise<{ id: string; pricing: PublicPricing }> {
  const { data } = (await (await fetch(`${url}/v1/catalog`)).json()) as {
    data: { id: string; pricing: PublicPricing }[];
  };
  const entry = data.find(({ id }) => id === model);
  if (entry === undefined) throw new Error(`${model} is not in the catalog.`);
  return entry;
}

let accountsMade = 0;

async function mint({ books }: Pick<Running, 'books'>, clock: Clock, options: KeyOptions = {}): Promise<MintedKey> {
  const services = { store: books.store, clock, ids: books.ids };
  const account = await createAccount(services, { name: `test-${++accountsMade}`, kind: 'prepaid' });
  if (account === 'name_taken') throw new Error('The name is taken.');
  const amountNanousd = options.creditNanousd ?? 1_000_000_000n;
  if (amountNanousd > 0n) {
    const id = books.ids.next();
    await books.ledger.credit({
      id,
      accountId: account.id,
      amountNanousd,
      reference: String(id),
      note: null,
      createdMs: clock.nowMs(),
    });
  }
  return mintFor({ books }, clock, account.id, options);
}

async function mintFor(
  { books }: Pick<Running, 'books'>,
  clock: Clock,
  accountId: bigint,
  options: KeyOptions = {},
): Promise<MintedKey> {
  const services = { store: books.store, clock, ids: books.ids };
  const minted = await mintKey(services, {
    accountId,
    personId: options.personId ?? null,
    name: 'test',
    capNanousd: options.capNanousd ?? null,
    capWindow: options.capWindow ?? 'lifetime',
    expiresMs: options.expiresMs ?? null,
    models: options.models ?? null,
    permissions: options.permissions ?? [],
    onUnsupported: options.onUnsupported ?? 'refuse',
    maxCostNanousd: options.maxCostNanousd ?? null,
  });
  if (typeof minted === 'string') throw new Error('The account is gone.');
  return { secret: minted.secret.reveal(), keyId: minted.key.id, accountId };
}

async function expectCleanBooks({ books }: Running): Promise<void> {
  const report = await books.ledger.verify();
  if (report.violations.length > 0) throw new Error(`The books are wrong: ${report.violations.join('; ')}`);
  if (report.openHolds > 0) throw new Error(`${report.openHolds} holds are open.`);
}
