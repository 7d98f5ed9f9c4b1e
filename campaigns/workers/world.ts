import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseId } from '../../src/kit/ids.ts';
import { startSim } from '../../src/sim/sim.ts';
import type { Sim } from '../../src/sim/sim-handle.ts';
import { diskFolder } from '../disk-folder.ts';
import { type GatewayProcess, type RunVerb, startGatewayProcess } from '../gateway-process.ts';
import { configOf, MODEL } from '../kill/world.ts';

/** A gateway with several workers, its host, and a way to run verbs. */
export interface WorkersWorld {
  readonly url: string;
  readonly sim: Sim;
  readonly workers: number;
  readonly model: string;
  readonly ask: RunVerb;
}

export interface WorkersKey {
  readonly id: string;
  readonly secret: string;
  readonly account: string;
  readonly creditNanousd: bigint;
}

interface KeyTerms {
  readonly creditNanousd: bigint;
  readonly capNanousd?: bigint;
}

let accounts = 0;

/** A key of an account of its own. */
export async function openKey({ ask }: WorkersWorld, { creditNanousd, capNanousd }: KeyTerms): Promise<WorkersKey> {
  const name = `workers-${process.pid}-${++accounts}`;
  const { id: account } = (await ask('accounts.create', { name })) as { id: string };
  await ask('accounts.credit', { account, amount_nanousd: String(creditNanousd) });
  const cap = capNanousd === undefined ? {} : { spend_cap_nanousd: String(capNanousd), window: 'month' };
  const minted = (await ask('keys.mint', { account, ...cap })) as { id: string; secret: string };
  return { id: minted.id, secret: minted.secret, account, creditNanousd };
}

export function bearer({ secret }: Pick<WorkersKey, 'secret'>): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

/** Which worker answered, according to the id of the request. */
export function workerOf(requestId: string): number {
  const id = parseId('req_', requestId);
  if (id === null) throw new Error(`${requestId} is not the id of a request.`);
  return Number((id >> 12n) & 1023n);
}

export function environmentOf(workers: number): Record<string, string> {
  return { TOLLGATE_WORKERS: String(workers) };
}

/** The program itself, in a process of its own. */
export class GatewayWorld implements WorkersWorld {
  readonly sim: Sim;
  readonly workers: number;
  readonly model = MODEL;
  readonly #folder: string;
  readonly #gateway: GatewayProcess;

  private constructor(sim: Sim, workers: number, folder: string, gateway: GatewayProcess) {
    this.sim = sim;
    this.workers = workers;
    this.#folder = folder;
    this.#gateway = gateway;
  }

  static async start(workers: number, settings: object = {}): Promise<GatewayWorld> {
    const folder = diskFolder('tollgate-workers-');
    const sim = await startSim();
    const configFile = join(folder, 'tollgate.config.json');
    writeFileSync(configFile, JSON.stringify({ ...configOf(sim.url), ...settings }));
    return new GatewayWorld(
      sim,
      workers,
      folder,
      await startGatewayProcess({ folder, configFile, env: environmentOf(workers) }),
    );
  }

  get url(): string {
    return this.#gateway.url;
  }

  get ask(): RunVerb {
    return this.#gateway.ask;
  }

  async end(): Promise<void> {
    await this.#gateway.stop();
    await this.sim.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
