import { ADMITTED, Probe } from './probes.ts';
import { openKey, type WorkersKey, type WorkersWorld } from './world.ts';

/** The world that is measured has this limit. */
export const RATE_LIMIT = { requests_per_second: 50, burst: 100 };
const PROBES = 24;
/** Every probe asks again as soon as this has passed, whatever it was answered. */
const PAUSE_MS = 40;

/** How many requests of one key all workers together let in, and how many they may. */
interface Rate {
  readonly letIn: number;
  readonly allowed: number;
  readonly faults: readonly string[];
}

/** Asks with one key over many connections, several times as often as it may. */
export async function measureRate(world: WorkersWorld, seconds: number): Promise<Rate> {
  const key = await openKey(world, { creditNanousd: 10n ** 9n });
  const probes = Array.from({ length: PROBES }, () => new Probe(world));
  const startedMs = performance.now();
  const counts = await Promise.all(probes.map((probe) => letIn(probe, key, startedMs + seconds * 1000)));
  const tookS = (performance.now() - startedMs) / 1000;
  for (const probe of probes) probe.close();
  const passed = counts.reduce((sum, count) => sum + count, 0);
  const { burst, requests_per_second: perSecond } = RATE_LIMIT;
  const allowed = Math.floor(burst + perSecond * tookS);
  const faults = [
    ...(passed > allowed ? [`${passed} requests were let in, and ${allowed} are allowed`] : []),
    ...(passed < 0.9 * (burst + perSecond * seconds) ? [`only ${passed} of ${allowed} requests were let in`] : []),
  ];
  return { letIn: passed, allowed, faults };
}

async function letIn(probe: Probe, key: WorkersKey, untilMs: number): Promise<number> {
  let passed = 0;
  while (performance.now() < untilMs) {
    const { status } = await probe.ask(key);
    if (status === ADMITTED) passed++;
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
  return passed;
}
