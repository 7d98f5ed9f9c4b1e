import { setTimeout as pause } from 'node:timers/promises';
import { CAP_WINDOWS, type KeyChange } from '../../src/store/store.ts';
import { MODEL } from '../kill/world.ts';
import type { Replica } from './replica.ts';
import type { ReplicaKey, World } from './world.ts';

/** A change of a key that every replica must notice soon. */
interface Change {
  readonly name: string;
  /** The time from the change to the last call that was answered as before, and to the first that was not. */
  readonly slowestMs: number;
  readonly faults: readonly string[];
}

/** No call that begins later than this after the change may be answered as before. */
export const SEEN_WITHIN_MS = 2_000;
const GIVE_UP_MS = 20_000;
/** Without it, the calls would take the cores from the replicas that are to notice the change. */
const BETWEEN_CALLS_MS = 10;

const CHANGES: readonly { readonly name: string; readonly change: KeyChange; readonly status: number }[] = [
  { name: 'a cap is set', change: { capNanousd: 1n }, status: 402 },
  { name: 'the cap is raised', change: { capNanousd: 10n ** 12n }, status: 200 },
  { name: 'the key may use no such model', change: { models: ['another'] }, status: 404 },
  { name: 'it may use every model', change: { models: null }, status: 200 },
  { name: 'the key is revoked', change: { revokedMs: 1 }, status: 401 },
];

/** Changes a key again and again, and calls all replicas, which have it cached, until they answer accordingly. */
export async function changeKey(world: World): Promise<Change[]> {
  world.sim.reset();
  const key = await world.openKey({ creditNanousd: 10n ** 12n });
  const done: Change[] = [];
  await Promise.all(world.replicas.map((replica) => statusAt(replica, key.secret)));
  for (const { name, change, status } of CHANGES) {
    await world.store.updateKey(key.keyId, change);
    const changedMs = performance.now();
    const seen = await Promise.all(world.replicas.map((replica) => seenBy(replica, key.secret, status, changedMs)));
    const slowestMs = Math.max(...seen.map(({ afterMs }) => afterMs));
    done.push({ name, slowestMs, faults: seen.flatMap(({ faults }) => faults.map((fault) => `${name}: ${fault}`)) });
  }
  return done;
}

const WINDOW_CHANGES = 60;
const CALLERS_PER_REPLICA = 3;

/**
 * Changes the window of a key's cap again and again while all replicas admit calls of that key. Reports what is wrong
 * afterwards: every call must be counted in exactly one window.
 */
export async function changeWindows(world: World): Promise<string[]> {
  world.sim.reset();
  const key = await world.openKey({ creditNanousd: 10n ** 12n, capNanousd: 10n ** 12n });
  const statuses = new Set<number>();
  let isOver = false;
  const callers = world.replicas.flatMap((replica) =>
    Array.from({ length: CALLERS_PER_REPLICA }, async () => {
      while (!isOver) statuses.add(await statusAt(replica, key.secret));
    }),
  );
  for (let change = 0; change < WINDOW_CHANGES; change++) {
    await world.store.updateKey(key.keyId, { capWindow: CAP_WINDOWS[change % CAP_WINDOWS.length]! });
  }
  isOver = true;
  await Promise.all(callers);
  const answers = [...statuses].filter((status) => status !== 200).map((status) => `a call got ${status}`);
  const { violations } = await world.store.verify();
  return [...answers, ...violations, ...(await judgeWindows(world, key))].map((fault) => `windows change: ${fault}`);
}

async function judgeWindows(world: World, { keyId, accountId }: ReplicaKey): Promise<string[]> {
  const { spentNanousd } = (await world.store.findAccount(accountId))!;
  const [windows] = await world.sql<{ spent: string; held: string }>(
    'SELECT sum(spent) AS spent, sum(held) AS held FROM key_window WHERE key_id = $1',
    [keyId],
  );
  const isExact = spentNanousd > 0n && BigInt(windows!.spent) === spentNanousd && windows!.held === '0';
  return isExact ? [] : [`the windows have ${windows!.spent}, ${windows!.held} held, but ${spentNanousd} was spent`];
}

async function seenBy(
  replica: Replica,
  secret: string,
  status: number,
  changedMs: number,
): Promise<{ afterMs: number; faults: string[] }> {
  const faults: string[] = [];
  for (;;) {
    const afterMs = performance.now() - changedMs;
    const answered = await statusAt(replica, secret);
    if (answered === status) return { afterMs, faults };
    if (afterMs > SEEN_WITHIN_MS) faults.push(`a call that began ${Math.round(afterMs)} ms later got ${answered}`);
    if (afterMs > GIVE_UP_MS) return { afterMs, faults };
    await pause(BETWEEN_CALLS_MS);
  }
}

async function statusAt({ url }: Replica, secret: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 5 }),
  });
  await response.arrayBuffer();
  return response.status;
}
