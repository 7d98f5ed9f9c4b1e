import { Agent, request } from 'node:http';
import type { Replica } from './replica.ts';
import { type ReplicaKey, World } from './world.ts';

const LIMIT = { requests_per_second: 50, burst: 100 };
const SECONDS = 12;
/** Requests per second sent to a replica under load, whatever it answers. */
const ASKED_PER_SECOND = 120;

/** How many requests of one key were admitted, over all replicas, and how many may be. */
interface Rate {
  readonly name: string;
  readonly letIn: number;
  readonly allowed: number;
  readonly faults: readonly string[];
}

/** Each round: which replicas are called, and whether the last of them is killed halfway. */
const LOADS = [
  { name: 'load on all', asked: 3, kills: false },
  { name: 'all load on one', asked: 1, kills: false },
  { name: 'load on all, one killed half-way', asked: 3, kills: true },
] as const;

/** A setup of its own, because the others have no rate limit. */
export async function measureRates(): Promise<Rate[]> {
  const world = await World.create({ rate_limit: { ...LIMIT, streams: null } });
  try {
    const done: Rate[] = [];
    for (const load of LOADS) done.push(await measure(world, load));
    return done;
  } finally {
    await world.end();
  }
}

async function measure(world: World, { name, asked, kills }: (typeof LOADS)[number]): Promise<Rate> {
  const key = await world.openKey({ creditNanousd: 1n });
  const replicas = world.replicas.slice(0, asked);
  const startedMs = performance.now();
  const untilMs = startedMs + SECONDS * 1000;
  const counts = await Promise.all(
    replicas.map((replica, at) => {
      const isDoomed = kills && at === asked - 1;
      return askFor(replica, key, isDoomed ? (startedMs + untilMs) / 2 : untilMs, isDoomed);
    }),
  );
  const letIn = counts.reduce((sum, count) => sum + count, 0);
  const allowed = LIMIT.burst + LIMIT.requests_per_second * SECONDS;
  const isWithin = letIn >= 0.9 * allowed && letIn <= 1.1 * allowed;
  return { name, letIn, allowed, faults: isWithin ? [] : [`${name}: ${letIn} requests were let in, not ${allowed}`] };
}

/** Sends requests at an even pace until then, and counts those admitted. */
async function askFor(replica: Replica, key: ReplicaKey, untilMs: number, isDoomed: boolean): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  let letIn = 0;
  const asking = new Set<Promise<void>>();
  const startedMs = performance.now();
  for (let sent = 0; performance.now() < untilMs; sent++) {
    const dueMs = startedMs + (sent * 1000) / ASKED_PER_SECOND;
    if (dueMs > performance.now()) await new Promise((done) => setTimeout(done, dueMs - performance.now()));
    const one = status(replica, key, agent).then((answered) => {
      if (answered !== 429 && answered !== null) letIn++;
      asking.delete(one);
    });
    asking.add(one);
  }
  if (isDoomed) replica.signal('SIGKILL');
  await Promise.all(asking);
  agent.destroy();
  return letIn;
}

/** Null if no response came. */
function status({ url }: Replica, { secret }: ReplicaKey, agent: Agent): Promise<number | null> {
  return new Promise((done) => {
    const sent = request(`${url}/v1/balance`, { agent, headers: { authorization: `Bearer ${secret}` } }, (response) => {
      response.resume().on('close', () => done(response.statusCode ?? null));
    });
    sent.on('error', () => done(null)).end();
  });
}
