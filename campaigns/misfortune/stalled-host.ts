import type { Misfortune } from './misfortune.ts';
import { pause } from './poll.ts';
import type { Round } from './round.ts';
import { SqliteWorld } from './sqlite-world.ts';
import { StallingProxy } from './stalling-proxy.ts';

/** Short, so that a round sees them pass. */
const LIMITS_MS = { first_frame_ms: 800, idle_ms: 800, buffered_ms: 1_500, stream_ms: 4_000 };
const STALL_MS_MAX = 2_500;
/** Errors that tell callers that their host is slow or unreachable. */
const REFUSALS = ['502 host_failed', '503 no_healthy_host', '504 host_timeout'];

/** The network between the gateway and its host stops passing bytes, for shorter or longer than the gateway waits. */
export const stalledHost: Misfortune = {
  name: 'stalled-host',
  whyNot: () => null,
  play: async (round) => {
    const { port } = new URL(round.stage.upstream.url);
    const proxy = await StallingProxy.open({ host: '127.0.0.1', port: Number(port) });
    const options = { hostUrl: `http://127.0.0.1:${proxy.port}`, settings: { limits: LIMITS_MS }, refusals: REFUSALS };
    try {
      await SqliteWorld.use(round, options, (world) => stall(round, world, proxy));
    } finally {
      await proxy.close();
    }
  },
};

async function stall(round: Round, world: SqliteWorld, proxy: StallingProxy): Promise<void> {
  const { random } = round;
  await world.start();
  const traffic = world.traffic();
  for (let stalls = random.between(1, 3); stalls > 0; stalls--) {
    await traffic.reached(random.between(1, 120));
    proxy.stall();
    await pause(random.below(STALL_MS_MAX));
    if (random.chance(0.3)) proxy.cut();
    proxy.pass();
  }
  await traffic.reached(40);
  await traffic.end();
  await world.serves();
  await world.stopAndStart();
  await world.audit();
}
