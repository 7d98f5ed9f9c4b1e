import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';

const RUNS = 20;
const CALLS_PER_SECOND = 50;
const SUMS = 'requests,tokens,cost,refunds,refused';
const NO_RATE_LIMITS = {
  requests_per_second: null,
  streams: null,
  body_bytes_per_second: null,
  json_members_per_second: null,
};

interface MonthPlace {
  /** The folder of the gateway, with its ledger unless that is in PostgreSQL. */
  readonly folder: string;
  readonly databaseUrl: string | null;
}

/**
 * The median of a month's report by day and model, with and without times, over the management API of a gateway process that
 * serves calls over HTTP meanwhile. Nothing else may have the ledger open.
 */
export async function timeMonth(place: MonthPlace): Promise<string> {
  const gateway = await startGateway(place);
  try {
    const manage = managing(gateway, place.folder);
    const calls = new SteadyCalls(gateway.url, await openKey(manage));
    const [plain, whole] = [await median(manage, SUMS), await median(manage, `${SUMS},first_byte,duration`)];
    const { made, refused } = await calls.stop();
    if (refused > 0) throw new Error(`${refused} of ${made} calls were refused.`);
    return `February by day and model takes ${plain} ms over HTTP, with percentiles ${whole} ms (median of ${RUNS}, while ${made} calls ran)`;
  } finally {
    await gateway.stop();
  }
}

/** In local mode, so that the token of the folder opens the management API. */
function startGateway({ folder, databaseUrl }: MonthPlace): Promise<GatewayProcess> {
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'tollgate.config.json');
  const store = databaseUrl === null ? {} : { store: databaseUrl };
  writeFileSync(configFile, JSON.stringify({ rate_limit: NO_RATE_LIMITS, ...store }));
  const operator = () => () => Promise.reject(new Error('Use the management API.'));
  return startGatewayProcess({ folder, configFile, isLocal: true, operator });
}

type Manage = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Record<string, unknown>>;

function managing({ url }: GatewayProcess, folder: string): Manage {
  const token = readFileSync(join(folder, 'console.token'), 'utf8').trim();
  return async (method, path, body) => {
    const response = await fetch(`${url}/manage/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
}

async function openKey(manage: Manage): Promise<string> {
  const { id } = await manage('POST', '/accounts', { name: 'steady' });
  await manage('POST', `/accounts/${id}/credits`, { amount_nanousd: 1_000_000_000_000, reference: 'steady' });
  const { secret } = await manage('POST', '/keys', { account: id, name: 'steady' });
  return String(secret);
}

async function median(manage: Manage, metrics: string): Promise<number> {
  const [since, until] = [Date.UTC(2026, 1, 1) / 1000, Date.UTC(2026, 2, 1) / 1000];
  const query = `/usage?since=${since}&until=${until}&bucket=day&group_by=model&metrics=${metrics}`;
  const took: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedMs = performance.now();
    const { data } = (await manage('GET', query)) as { data: unknown[] };
    took.push(performance.now() - startedMs);
    if (data.length === 0) throw new Error('The month has no usage.');
  }
  return Math.round(took.toSorted((a, b) => a - b)[RUNS / 2]!);
}

const HELLO = JSON.stringify({
  model: 'sim-gpt',
  messages: [{ role: 'user', content: 'Hello' }],
  max_tokens: 20,
});

/** Calls at a steady rate until it is stopped. */
class SteadyCalls {
  readonly #url: string;
  readonly #secret: string;
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Set<Promise<void>>();
  #made = 0;
  #refused = 0;

  constructor(url: string, secret: string) {
    this.#url = url;
    this.#secret = secret;
    this.#timer = setInterval(() => this.#begin(), 1_000 / CALLS_PER_SECOND);
  }

  #begin(): void {
    this.#made += 1;
    const running = this.#call().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #call(): Promise<void> {
    const response = await fetch(`${this.#url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#secret}`, 'content-type': 'application/json' },
      body: HELLO,
    });
    await response.arrayBuffer();
    if (!response.ok) this.#refused += 1;
  }

  async stop(): Promise<{ readonly made: number; readonly refused: number }> {
    clearInterval(this.#timer);
    await Promise.all(this.#running);
    return { made: this.#made, refused: this.#refused };
  }
}
