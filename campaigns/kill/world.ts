import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSim } from '../../src/sim/sim.ts';
import type { Sim } from '../../src/sim/sim-handle.ts';
import type { PublicPricing } from '../../test/catalog-price.ts';
import { diskFolder } from '../disk-folder.ts';
import { type GatewayProcess, type RunVerb, startGatewayProcess } from '../gateway-process.ts';

export const MODEL = 'toll-model';

export const PRICING: PublicPricing = {
  input: 150_000_000,
  output: 600_000_000,
  cache_read: 75_000_000,
  cache_write: 187_500_000,
  cache_write_1h: 300_000_000,
};

export interface Key {
  readonly id: string;
  readonly secret: string;
  readonly account: string;
}

/** What survives the kills: the folder, the host, the accounts and their keys. */
export interface World {
  readonly folder: string;
  readonly sim: Sim;
  readonly keys: readonly Key[];
  /** What was credited to each account, by id. */
  readonly creditsNanousd: ReadonlyMap<string, bigint>;
  /** The current gateway process. */
  gateway: GatewayProcess;
  /** When the store's write-ahead log was last written. */
  logWrittenNs(): bigint;
  /** Starts the next process on the same folder. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

const CREDIT_NANOUSD = 100_000_000_000n;

/** Where the ledger is, and how to reach its operator's verbs. */
export interface Place {
  /** Added to the config file. */
  readonly settings: object;
  /** Further variables of the gateway's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly operator?: (url: string) => RunVerb;
}

/** With a ledger in the folder, unless a place is named. */
export async function createWorld(place: Place = { settings: {} }): Promise<World> {
  const folder = diskFolder('tollgate-kill-');
  const sim = await startSim();
  try {
    return await populate(folder, sim, place);
  } catch (error) {
    await clear(folder, sim);
    throw error;
  }
}

async function clear(folder: string, sim: Sim): Promise<void> {
  await sim.close();
  rmSync(folder, { recursive: true, force: true });
}

async function populate(folder: string, sim: Sim, { settings, ...operator }: Place): Promise<World> {
  const configFile = writeConfig(folder, sim, settings);
  const terms = { folder, configFile, ...operator };
  const gateway = await startGatewayProcess(terms);
  const { keys, creditsNanousd } = await openAccounts(gateway);
  const world: World = {
    folder,
    sim,
    keys,
    creditsNanousd,
    gateway,
    logWrittenNs: () =>
      statSync(join(folder, 'tollgate.sqlite-wal'), { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n,
    restart: async () => {
      world.gateway = await startGatewayProcess(terms);
    },
    end: async () => {
      await world.gateway.stop();
      await clear(folder, sim);
    },
  };
  return world;
}

export function writeConfig(folder: string, sim: Sim, settings: object = {}): string {
  const file = join(folder, 'tollgate.config.json');
  writeFileSync(file, JSON.stringify({ ...configOf(sim.url), ...settings }));
  return file;
}

/** One model at that host, without rate limits. */
export function configOf(hostUrl: string): object {
  const model = { id: MODEL, caps: ['chat'], context_window: 100_000, max_output_tokens: 4096, price: PRICING };
  return {
    simulated_host: false,
    rate_limit: {
      requests_per_second: null,
      streams: null,
      body_bytes_per_second: null,
      json_members_per_second: null,
    },
    // No load balancer has to see that a gateway stops.
    limits: { shutdown_notice_ms: 0 },
    hosts: [{ name: 'upstream', base_url: `${hostUrl}/v1` }],
    models: [{ ...model, hosts: [{ host: 'upstream', model: 'sim-gpt' }] }],
  };
}

/** Three prepaid accounts, each with one key without a cap and one with a monthly cap. */
async function openAccounts(gateway: GatewayProcess): Promise<Pick<World, 'keys' | 'creditsNanousd'>> {
  const keys: Key[] = [];
  const creditsNanousd = new Map<string, bigint>();
  for (const name of ['ada', 'grace', 'edsger']) {
    const { id } = (await gateway.ask('accounts.create', { name })) as { id: string };
    await gateway.ask('accounts.credit', { account: id, amount_nanousd: String(CREDIT_NANOUSD) });
    creditsNanousd.set(id, CREDIT_NANOUSD);
    for (const cap of [{}, { spend_cap_nanousd: String(CREDIT_NANOUSD), window: 'month' }]) {
      const minted = (await gateway.ask('keys.mint', { account: id, ...cap })) as { id: string; secret: string };
      keys.push({ id: minted.id, secret: minted.secret, account: id });
    }
  }
  return { keys, creditsNanousd };
}
