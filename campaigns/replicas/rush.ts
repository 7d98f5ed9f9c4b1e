import { StreamClient } from '../../test/stream-client.ts';
import { MODEL } from '../kill/world.ts';
import { judgeCounts, judgeRefusal, meetAtLimit } from '../meet-at-limit.ts';
import type { ReplicaKey, World } from './world.ts';

const RUSH_CALLS = 200;

const ASK = { model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };

/** Which money limit is tested, and the error of a call that it refuses. */
export const RUSH_LIMITS = {
  balance: 'insufficient_quota',
  cap: 'key_spend_cap_exceeded',
  person: 'key_spend_cap_exceeded',
} as const;
export type RushLimit = keyof typeof RUSH_LIMITS;

/** Many calls at once, over all replicas, with money for a few. */
export interface Rush {
  readonly limit: RushLimit;
  readonly affordable: number;
  readonly passed: number;
  readonly faults: readonly string[];
}

/** The most that one such call can cost. */
export async function worstNanousd(world: World): Promise<bigint> {
  const key = await world.openKey({ creditNanousd: 10n ** 12n });
  const client = new StreamClient(world.replicas[0]!.url, ASK, bearer(key));
  await client.end();
  const [row] = await world.sql<{ held: string }>('SELECT held FROM call WHERE account_id = $1', [key.accountId]);
  if (row === undefined) throw new Error(`The call that was to name the price failed: ${client.text}`);
  return BigInt(row.held);
}

/** Exactly as many calls pass as there is money for. */
export async function rush(world: World, limit: RushLimit, affordable: number, worst: bigint): Promise<Rush> {
  const { sim, replicas } = world;
  // Not enough for one more, not even with a prompt whose tokens are counted.
  const money = BigInt(affordable) * worst + worst / 2n;
  const keys = await openKeys(world, limit, money);
  const key = keys[0]!;
  let held = 0n;
  const send = (call: number): StreamClient => {
    const { url } = replicas[call % replicas.length]!;
    const one = keys[Math.floor(call / replicas.length) % keys.length]!;
    return new StreamClient(url, { ...ASK, stream: call % 2 === 0 }, bearer(one));
  };
  const met = await meetAtLimit(sim, RUSH_CALLS, send, async () => {
    held = await heldBy(world, key);
  });
  const faults = [
    ...met.refused.flatMap((client) => judgeRefusal(client, RUSH_LIMITS[limit])),
    ...judgeCounts(met, affordable),
    ...(held === BigInt(affordable) * worst ? [] : [`${held} was held for ${affordable} calls of ${worst}`]),
    ...(await judgeBooks(world, key, met.passed)),
  ];
  return { limit, affordable, passed: met.passed.length, faults };
}

/** One key, or three of the same person, with this much money for all calls. */
async function openKeys(world: World, limit: RushLimit, money: bigint): Promise<ReplicaKey[]> {
  if (limit === 'balance') return [await world.openKey({ creditNanousd: money })];
  const creditNanousd = 10n ** 12n;
  if (limit === 'cap') return [await world.openKey({ creditNanousd, capNanousd: money })];
  const first = await world.openKey({ creditNanousd, personCapNanousd: money });
  const { accountId: account, personId } = first;
  const another = () => world.openKey({ creditNanousd, account, personId });
  return [first, await another(), await another()];
}

function bearer({ secret }: ReplicaKey): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

async function heldBy({ store }: World, { accountId }: ReplicaKey): Promise<bigint> {
  return (await store.findAccount(accountId))!.heldNanousd;
}

/** Nothing is held any more, and the account paid for exactly the receipts of the calls that passed. */
async function judgeBooks({ store }: World, key: ReplicaKey, passed: readonly StreamClient[]): Promise<string[]> {
  const account = (await store.findAccount(key.accountId))!;
  const receipts = await store.listReceipts(
    { accountId: key.accountId, keyId: null, sinceMs: null },
    { limit: RUSH_CALLS, after: null },
  );
  const settled = receipts.filter(({ state }) => state === 'settled');
  const spent = settled.reduce((sum, { costNanousd }) => sum + costNanousd, 0n);
  return [
    ...(receipts.length === passed.length && settled.length === passed.length
      ? []
      : [`${passed.length} calls passed, but ${settled.length} of ${receipts.length} receipts are settled`]),
    ...(account.heldNanousd === 0n ? [] : [`${account.heldNanousd} is still held`]),
    ...(account.spentNanousd === spent ? [] : [`${account.spentNanousd} was spent, but receipts say ${spent}`]),
  ];
}
