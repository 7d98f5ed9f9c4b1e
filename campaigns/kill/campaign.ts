import { Random } from '../../test/random.ts';
import { withinReason } from '../cycle-timeout.ts';
import { runCommand } from '../gateway-process.ts';
import { Auditor } from './audit.ts';
import { Load } from './load.ts';
import { CLIENTS, IN_FLIGHT_MIN, MOMENTS, type Moment } from './moments.ts';
import { createWorld, type Place, type World } from './world.ts';

/** What one kill hit, and what was wrong after it. */
export interface Cycle {
  readonly moment: string;
  readonly inFlight: number;
  readonly streamsInFlight: number;
  /** Calls whose last byte a client saw. */
  readonly seen: number;
  readonly voided: number;
  readonly settledUnseen: number;
  readonly faults: readonly string[];
}

interface CampaignTerms {
  readonly cycles: number;
  readonly seed: number;
  /** Settings of the gateway, and where its ledger is. */
  readonly place?: Place;
  onCycle?(cycle: Cycle, number: number): void;
}

export interface Campaign {
  readonly cycles: readonly Cycle[];
  /** The output of `tollgate ledger verify` at the end. */
  readonly verdict: { readonly code: number | null; readonly text: string };
}

/** Kills the gateway again and again on one folder; compares the ledger with what clients saw after each restart. */
export async function killCampaign({ cycles, seed, place, onCycle }: CampaignTerms): Promise<Campaign> {
  const random = new Random(seed);
  const world = await createWorld(place);
  const done: Cycle[] = [];
  try {
    const auditor = new Auditor(world);
    for (let number = 0; number < cycles; number++) {
      const moment = MOMENTS[number % MOMENTS.length]!;
      const cycle = await withinReason(runCycle(world, auditor, moment, random, `life${number}`));
      done.push(cycle);
      onCycle?.(cycle, number);
    }
    return { cycles: done, verdict: await runCommand(world.folder, 'ledger', 'verify') };
  } finally {
    await world.end();
  }
}

async function runCycle(world: World, auditor: Auditor, moment: Moment, random: Random, name: string): Promise<Cycle> {
  const { sim, gateway } = world;
  sim.reset();
  const plan = moment.plan(random);
  let hit: Pick<Cycle, 'inFlight' | 'streamsInFlight'> | null = null;
  const strike = (): void => {
    if (hit !== null) return;
    gateway.kill();
    const underWay = [...load.underWay];
    hit = { inFlight: underWay.length, streamsInFlight: underWay.filter(({ stream }) => stream).length };
    load.cease();
  };
  const load: Load = new Load({
    url: gateway.url,
    keys: world.keys,
    clients: CLIENTS,
    repeat: plan.repeat,
    name,
    script: plan.script,
    onEvent: (event) => {
      if (plan.strikesAt(event) && load.underWay.size >= IN_FLIGHT_MIN) strike();
    },
  });
  await plan.prepare?.(world, strike);
  await Promise.race([gateway.ended, load.finished]);
  strike();
  await Promise.all([gateway.ended, load.finished]);
  await world.restart();
  const audit = await auditor.audit(load.calls);
  const seen = load.calls.filter(({ costNanousd }) => costNanousd !== null).length;
  return { moment: moment.name, ...hit!, seen, ...audit, faults: [...load.refusals, ...audit.faults] };
}
