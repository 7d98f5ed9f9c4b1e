import { LIMITS } from '../../src/limits.ts';
import type { Misfortune } from './misfortune.ts';
import { pause } from './poll.ts';
import { PostgresWorld } from './postgres-world.ts';

/** Shorter and longer than a heartbeat, and longer than the silence after which a gateway stops admitting. */
const SHORT_STALLS_MS = [LIMITS.instanceHeartbeatMs / 5, LIMITS.instanceHeartbeatMs, LIMITS.instanceSilentMs + 500];
/** The last one is longer than any answer may take. */
const STALLS_MS = [...SHORT_STALLS_MS, LIMITS.postgresAnswerMs + 2_000];

/** The network between the gateway and PostgreSQL stops passing bytes, and goes on later or loses its connections. */
export const stalledPostgres: Misfortune = {
  name: 'stalled-postgres',
  whyNot: () => null,
  play: (round) => PostgresWorld.use(round, 1, stall),
};

async function stall(world: PostgresWorld): Promise<void> {
  const { random, isShort } = world.round;
  const [member] = world.members;
  const { proxy, gateway } = member!;
  const traffic = member!.traffic(world.keys);
  await traffic.reached(random.between(1, 200));
  proxy.stall();
  await pause(random.pick(isShort ? SHORT_STALLS_MS : STALLS_MS));
  if (random.chance(0.4)) proxy.cut();
  if (random.chance(0.2)) await gateway.end('SIGKILL');
  proxy.pass();
  await Promise.race([gateway.ended, traffic.reached(40)]);
  await traffic.end();
  const isKilled = (await Promise.race([gateway.ended, pause(0)])) !== undefined;
  if (isKilled) {
    world.round.restarts++;
    await member!.start();
  }
  await world.allReady();
  await world.audit();
}
