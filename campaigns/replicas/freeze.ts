import { StreamClient } from '../../test/stream-client.ts';
import { until } from '../../test/until.ts';
import { withinReason } from '../cycle-timeout.ts';
import { MODEL } from '../kill/world.ts';
import type { Replica } from './replica.ts';
import type { ReplicaKey, World } from './world.ts';

/** The results of a replica that was stopped while working, and resumed after it was declared dead. */
interface Freeze {
  /** Calls that arrived while it was stopped, by status. */
  readonly statuses: readonly (number | null)[];
  readonly faults: readonly string[];
}

const ASK = { model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };
const SLEEPERS = 4;
const LATECOMERS = 4;
const CREDIT_NANOUSD = 10n ** 12n;

/** `isPatient` waits until its time is really over, instead of moving the database's clock. */
export function freeze(world: World, number: number, isPatient: boolean): Promise<Freeze> {
  return withinReason(freezeOne(world, world.replicas[number % world.replicas.length]!, isPatient));
}

async function freezeOne(world: World, victim: Replica, isPatient: boolean): Promise<Freeze> {
  const { sim } = world;
  const key = await world.openKey({ creditNanousd: CREDIT_NANOUSD });
  const call = (stream: boolean) =>
    new StreamClient(victim.url, { ...ASK, stream }, { authorization: `Bearer ${key.secret}` });
  sim.reset();
  sim.script({ words: 2, gateHead: 'asleep' });
  const epoch = await world.epochOf(victim);
  const sleepers = Array.from({ length: SLEEPERS }, (_, at) => call(at % 2 === 0));
  await sim.waitForGate('asleep', SLEEPERS);
  victim.signal('SIGSTOP');
  await until(async () => {
    if (!isPatient) await world.takeForSilent([epoch]);
    return (await world.openHolds()) === 0;
  }, 'the holds of the sleeper are void');
  // Their hosts answer, and other clients call, while the replica is stopped.
  sim.script({ words: 2 });
  sim.release('asleep', SLEEPERS);
  const latecomers = Array.from({ length: LATECOMERS }, (_, at) => call(at % 2 === 0));
  victim.signal('SIGCONT');
  const clients = [...sleepers, ...latecomers];
  await until(() => clients.every(({ ended }) => ended !== null), 'every call has ended');
  await until(async () => isServed(victim, key), 'the replica serves again');
  await until(async () => (await world.openHolds()) === 0, 'every hold has ended');
  return {
    statuses: latecomers.map(({ status }) => status),
    faults: [
      ...judgeSleepers(sleepers),
      ...judgeLatecomers(latecomers),
      ...((await world.epochOf(victim)) > epoch ? [] : ['The replica goes on in its old life']),
      ...(await judgeBooks(world, key, epoch)),
    ],
  };
}

/** A new call, answered in full. */
async function isServed({ url }: Replica, { secret }: ReplicaKey): Promise<boolean> {
  const client = new StreamClient(url, ASK, { authorization: `Bearer ${secret}` });
  await client.end();
  return client.status === 200;
}

/** Every cost that a client was told is zero. */
function judgeSleepers(sleepers: readonly StreamClient[]): string[] {
  const costs = sleepers.map(({ headers }) => headers['x-gateway-cost-nanousd']).filter((cost) => cost !== undefined);
  return costs.every((cost) => cost === '0') ? [] : [`Calls whose holds were void were told to cost ${costs}`];
}

function judgeLatecomers(latecomers: readonly StreamClient[]): string[] {
  const wrong = latecomers.filter(({ status }) => status !== 200 && status !== 503);
  return wrong.map(({ status, text }) => `A call at the woken replica got ${status}: ${text.slice(0, 200)}`);
}

/** The old instance's holds are all void and uncharged; the account paid for what others settled, once. */
async function judgeBooks(world: World, { accountId }: ReplicaKey, epoch: bigint): Promise<string[]> {
  const [old] = await world.sql<{ calls: string; void: string; cost: string }>(
    'SELECT count(*) AS calls, count(*) FILTER (WHERE state = 3) AS void, coalesce(sum(cost), 0) AS cost FROM call WHERE epoch = $1 AND account_id = $2',
    [epoch, accountId],
  );
  const [all] = await world.sql<{ cost: string }>(
    'SELECT coalesce(sum(cost), 0) AS cost FROM call WHERE account_id = $1',
    [accountId],
  );
  const { balanceNanousd, heldNanousd } = (await world.store.findAccount(accountId))!;
  const isOldOver = Number(old!.calls) === SLEEPERS && Number(old!.void) === SLEEPERS && BigInt(old!.cost) === 0n;
  const isExact = balanceNanousd === CREDIT_NANOUSD - BigInt(all!.cost) && heldNanousd === 0n;
  const { violations } = await world.store.verify();
  return [
    ...(isOldOver ? [] : [`The ledger has of its old instance ${JSON.stringify(old)}`]),
    ...(isExact ? [] : [`The account has ${balanceNanousd}, and its calls cost ${all!.cost}`]),
    ...violations,
  ];
}
