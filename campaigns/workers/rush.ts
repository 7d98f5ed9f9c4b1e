import { StreamClient } from '../../test/stream-client.ts';
import { until } from '../../test/until.ts';
import { judgeCounts, judgeRefusal, meetAtLimit } from '../meet-at-limit.ts';
import { bearer, openKey, type WorkersKey, type WorkersWorld, workerOf } from './world.ts';

/** Which limit is tested, and the error of a call that it refuses. */
const RUSH_LIMITS = {
  balance: 'insufficient_quota',
  cap: 'key_spend_cap_exceeded',
  calls: 'rate_limit_exceeded',
} as const;
export type RushLimit = keyof typeof RUSH_LIMITS;

interface RushTerms {
  readonly limit: RushLimit;
  /** Calls that are sent at once, and how many of them may pass. */
  readonly calls: number;
  readonly allowed: number;
}

interface Rush extends RushTerms {
  readonly passed: number;
  /** Calls that each worker received. */
  readonly spread: readonly number[];
  readonly faults: readonly string[];
}

function askOf({ model }: WorkersWorld): object {
  return { model, messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };
}

/** The most that one such call can cost. */
export async function worstNanousd(world: WorkersWorld): Promise<bigint> {
  const key = await openKey(world, { creditNanousd: 10n ** 12n });
  const client = new StreamClient(world.url, askOf(world), bearer(key));
  await until(() => client.ended !== null, 'the first call has ended');
  const { held_nanousd: held } = (await world.ask('receipts.show', { receipt: client.requestId })) as {
    held_nanousd: number;
  };
  return BigInt(held);
}

export async function rush(world: WorkersWorld, terms: RushTerms, worst: bigint): Promise<Rush> {
  const key = await keyFor(world, terms, worst);
  const met = await meetAtLimit(
    world.sim,
    terms.calls,
    (call) => new StreamClient(world.url, { ...askOf(world), stream: call % 2 === 0 }, bearer(key)),
  );
  const passed = met.passed.length;
  const faults = [
    ...met.refused.flatMap((client) => judgeRefusal(client, RUSH_LIMITS[terms.limit])),
    ...judgeCounts(met, terms.allowed),
    ...(await judgeAccount(world, key, passed)),
  ];
  const spread = spreadOf(met.clients);
  if (spread.length !== world.workers) faults.push(`${spread.length} of ${world.workers} workers received calls`);
  return { ...terms, passed, spread, faults };
}

function keyFor(world: WorkersWorld, { limit, allowed }: RushTerms, worst: bigint): Promise<WorkersKey> {
  // Not enough for one more, not even with a prompt whose tokens are counted.
  const money = BigInt(allowed) * worst + worst / 2n;
  if (limit === 'balance') return openKey(world, { creditNanousd: money });
  return openKey(world, { creditNanousd: 10n ** 12n, ...(limit === 'cap' && { capNanousd: money }) });
}

/** Nothing is held any more, and the account paid for exactly the receipts of the calls that passed. */
async function judgeAccount({ ask }: WorkersWorld, key: WorkersKey, passed: number): Promise<string[]> {
  const { account } = key;
  const balance = (await ask('balance.show', { account })) as { held_nanousd: number; balance_nanousd: number };
  const spent = Number(key.creditNanousd) - balance.balance_nanousd;
  const { data } = (await ask('receipts.list', { account, limit: 1000 })) as { data: readonly Receipt[] };
  const settled = data.filter(({ status }) => status === 'settled');
  const cost = settled.reduce((sum, receipt) => sum + (receipt.cost_nanousd ?? 0), 0);
  return [
    ...(data.length === passed && settled.length === passed
      ? []
      : [`${passed} calls passed, but ${settled.length} of ${data.length} receipts are settled`]),
    ...(balance.held_nanousd === 0 ? [] : [`${balance.held_nanousd} is still held`]),
    ...(spent === cost ? [] : [`${spent} was spent, but receipts say ${cost}`]),
  ];
}

interface Receipt {
  readonly status: string;
  readonly cost_nanousd: number | null;
}

function spreadOf(clients: readonly StreamClient[]): number[] {
  const counts = new Map<number, number>();
  for (const { requestId, status } of clients) {
    if (status === null) continue;
    const worker = workerOf(requestId);
    counts.set(worker, (counts.get(worker) ?? 0) + 1);
  }
  return [...counts.values()];
}
