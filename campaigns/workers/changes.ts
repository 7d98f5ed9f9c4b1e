import { setTimeout as pause } from 'node:timers/promises';
import { ADMITTED, type Probe, probeEach } from './probes.ts';
import { openKey, type WorkersKey, type WorkersWorld } from './world.ts';

/** No call that begins later than this after a change may be answered as before. */
export const SEEN_WITHIN_MS = 2_000;
const GIVE_UP_MS = 20_000;
/** Without it, the calls would take the cores from the workers that are to notice the change. */
const BETWEEN_CALLS_MS = 10;

/** A change of a key, and how long the slowest worker answered as before. */
interface Change {
  readonly name: string;
  readonly slowestMs: number;
  readonly faults: readonly string[];
}

const CHANGES = [
  { name: 'the key is disabled', verb: 'keys.disable', status: 401 },
  { name: 'the key is enabled', verb: 'keys.enable', status: ADMITTED },
  { name: 'the key is revoked', verb: 'keys.revoke', status: 401 },
] as const;

/** Changes a key that every worker has in its memory, and asks each until it answers accordingly. */
export async function changeKey(world: WorkersWorld): Promise<Change[]> {
  const key = await openKey(world, { creditNanousd: 10n ** 9n });
  const probes = await probeEach(world, key);
  const done: Change[] = [];
  for (const { name, verb, status } of CHANGES) {
    await world.ask(verb, { key: key.id });
    const changedMs = performance.now();
    const seen = await Promise.all(probes.map((probe) => seenAfterMs(probe, key, status, changedMs)));
    const slowestMs = Math.max(...seen);
    const isLate = slowestMs > SEEN_WITHIN_MS;
    done.push({ name, slowestMs, faults: isLate ? [`${name}: a worker saw it after ${slowestMs} ms`] : [] });
  }
  for (const probe of probes) probe.close();
  return done;
}

/** When the last call began that was answered as before. */
async function seenAfterMs(probe: Probe, key: WorkersKey, status: number, changedMs: number): Promise<number> {
  for (let lastMs = 0; ; ) {
    const beganMs = performance.now() - changedMs;
    const answer = await probe.ask(key);
    if (answer.status === status) return lastMs;
    if (beganMs > GIVE_UP_MS) throw new Error(`A worker still answers with ${answer.status}.`);
    lastMs = beganMs;
    await pause(BETWEEN_CALLS_MS);
  }
}
