import type { Random } from '../../test/random.ts';
import { until } from '../../test/until.ts';
import { withinReason } from '../cycle-timeout.ts';
import { Load } from '../kill/load.ts';
import type { Auditor } from './audit.ts';
import { allReady, openKeys, seenOf } from './kill-campaign.ts';
import { CLIENTS } from './moments.ts';
import type { ReplicaKey, World } from './world.ts';

/** What one kill of the database hit. */
interface Crash {
  readonly inFlight: number;
  readonly seen: number;
  readonly voided: number;
  readonly settledUnseen: number;
  /** Calls that were refused with a retry, before any host was called. */
  readonly refused: number;
  readonly faults: readonly string[];
}

interface CrashTerms {
  readonly crashes: number;
  readonly random: Random;
  onCrash?(crash: Crash, number: number): void;
}

/** Kills PostgreSQL under load, restarts it, and compares the ledger with what clients saw. */
export async function crashCampaign(world: World, { crashes, random, onCrash }: CrashTerms): Promise<Crash[]> {
  const { keys, auditor } = await openKeys(world);
  const done: Crash[] = [];
  for (let number = 0; number < crashes; number++) {
    const crash = await withinReason(crashOnce(world, keys, auditor, random, `crash${number}`));
    onCrash?.(crash, number);
    done.push(crash);
  }
  return done;
}

async function crashOnce(
  world: World,
  keys: readonly ReplicaKey[],
  auditor: Auditor,
  random: Random,
  name: string,
): Promise<Crash> {
  world.sim.reset();
  await allReady(world);
  const { promise: due, resolve: strike } = Promise.withResolvers<void>();
  let events = random.between(1, 300);
  const loads = world.replicas.map(
    ({ url }, at) =>
      new Load({
        url,
        keys,
        clients: CLIENTS,
        repeat: true,
        name: `${name}-${at}`,
        script: () => ({ words: random.between(1, 20), chunkDelayMs: 0 }),
        onEvent: () => {
          if (--events <= 0) strike();
        },
      }),
  );
  await due;
  const inFlight = loads.reduce((sum, { underWay }) => sum + underWay.size, 0);
  const gone = world.server.crash();
  for (const load of loads) load.cease();
  await gone;
  await world.server.restart();
  await Promise.all(loads.map(({ finished }) => finished));
  await until(async () => (await world.store.health()).ok, 'the database is back');
  await allReady(world);
  const calls = loads.flatMap((load) => load.calls);
  const { faults, voided, settledUnseen } = await auditor.audit(calls, world.replicas[0]!, () => Promise.resolve());
  const refusals = loads.flatMap((load) => load.refusals);
  const wrong = refusals.filter((refusal) => !refusal.includes(': 503 '));
  return {
    inFlight,
    seen: seenOf(calls),
    voided: voided.size,
    settledUnseen: settledUnseen.size,
    refused: refusals.length,
    faults: [...faults, ...wrong],
  };
}
