import type { Misfortune } from './misfortune.ts';
import { pause } from './poll.ts';
import type { Round } from './round.ts';
import { SqliteWorld } from './sqlite-world.ts';

const FROZEN_MS_MAX = 3_000;
const FREEZES_MAX = 3;

/** The process is stopped with SIGSTOP in the middle of its work, and goes on later. */
export const frozen: Misfortune = {
  name: 'stopped-process',
  whyNot: () => null,
  play: (round) => SqliteWorld.use(round, {}, (world) => freeze(round, world)),
};

async function freeze(round: Round, world: SqliteWorld): Promise<void> {
  const { random } = round;
  await world.start();
  const traffic = world.traffic();
  const freezes = random.between(1, FREEZES_MAX);
  for (let number = 0; number < freezes; number++) {
    await traffic.reached(random.between(1, 150));
    world.gateway.signal('SIGSTOP');
    await pause(random.below(Math.ceil(FROZEN_MS_MAX / freezes)));
    if (random.chance(0.2)) await world.gateway.end('SIGKILL');
    else world.gateway.signal('SIGCONT');
    const isOver = await Promise.race([world.gateway.ended.then(() => true), traffic.reached(20).then(() => false)]);
    if (isOver) break;
  }
  await traffic.end();
  const isOver = await Promise.race([world.gateway.ended.then(() => true), pause(0).then(() => false)]);
  if (isOver) await world.restart();
  await world.serves();
  await world.stopAndStart();
  await world.audit();
}
