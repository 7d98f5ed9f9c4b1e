import { MODEL } from '../kill/world.ts';
import type { Misfortune } from './misfortune.ts';
import { pause } from './poll.ts';
import { PostgresWorld } from './postgres-world.ts';
import type { Traffic } from './traffic.ts';

/** Time for bytes that were sent to arrive at the clients of this process. */
const ARRIVAL_MS = 300;

/**
 * PostgreSQL is put back to an older state under two living gateways. Names and price lists that they wrote since are
 * gone, and a third gateway writes others in their place.
 */
export const restoredPostgres: Misfortune = {
  name: 'restored-postgres',
  whyNot: () => null,
  play: (round) => PostgresWorld.use(round, 2, restore),
};

async function restore(world: PostgresWorld): Promise<void> {
  const { stage, database, keys } = world;
  const { random } = world.round;
  const [north, south] = [world.members[0]!, world.members[1]!];
  const models = { north: [MODEL], south: [MODEL] };
  const traffics = [north.traffic(keys, models.north), south.traffic(keys, models.south)];
  const reached = (events: number) => Promise.all(traffics.map((traffic) => traffic.reached(events)));
  await reached(random.between(1, 80));
  const before = seenIn(traffics);
  await stage.snapshot(database);
  await world.allReady();
  await north.offer([MODEL, 'north-one', 'north-two']);
  await south.offer([MODEL, 'south-one', 'south-two']);
  models.north.push('north-one', 'north-two');
  await reached(random.between(20, 80));
  let undone = new Set<string>();
  await stage.restore(database, async () => {
    await pause(ARRIVAL_MS);
    undone = new Set([...seenIn(traffics)].filter((label) => !before.has(label)));
  });
  models.south.push('south-one', 'south-two');
  const west = await world.join(['west-one', 'west-two']);
  traffics.push(west.traffic(keys, ['west-one', 'west-two']));
  await reached(random.between(20, 80));
  await world.revive('after PostgreSQL was put back');
  await world.allReady();
  await reached(60);
  await Promise.all(traffics.map((traffic) => traffic.end()));
  await world.audit(undone);
}

function seenIn(traffics: readonly Traffic[]): Set<string> {
  return new Set(traffics.flatMap(({ seen }) => seen.map(({ label }) => label)));
}
