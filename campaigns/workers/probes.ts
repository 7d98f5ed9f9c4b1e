import { Agent } from 'node:http';
import { callRaw } from '../../test/raw-client.ts';
import { bearer, type WorkersKey, type WorkersWorld, workerOf } from './world.ts';

/** The response to a call, and which worker answered. */
interface Probed {
  readonly status: number;
  readonly worker: number;
}

/** A call that is admitted gets this, because no host serves its model. */
export const ADMITTED = 404;

/** A connection, whose requests all go to one worker. They cost nothing, but need a key and are limited as calls are. */
export class Probe {
  readonly #world: WorkersWorld;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(world: WorkersWorld) {
    this.#world = world;
  }

  async ask(key: WorkersKey): Promise<Probed> {
    const body = { model: 'nobody-serves-this', messages: [{ role: 'user', content: 'hello' }] };
    const options = { headers: bearer(key), agent: this.#agent };
    const { status, headers } = await callRaw(`${this.#world.url}/v1/chat/completions`, body, options);
    return { status, worker: workerOf(String(headers['x-gateway-request-id'])) };
  }

  close(): void {
    this.#agent.destroy();
  }
}

const CONNECTIONS_MAX = 200;

/** One connection to each worker, found by trying. */
export async function probeEach(world: WorkersWorld, key: WorkersKey): Promise<Probe[]> {
  const found = new Map<number, Probe>();
  for (let tries = 0; found.size < world.workers; tries++) {
    if (tries === CONNECTIONS_MAX) throw new Error(`Only ${found.size} of ${world.workers} workers can be reached.`);
    const probe = new Probe(world);
    const { worker } = await probe.ask(key);
    if (found.has(worker)) probe.close();
    else found.set(worker, probe);
  }
  return [...found.values()];
}
