import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Misfortune } from './misfortune.ts';
import type { Round } from './round.ts';
import { SqliteWorld } from './sqlite-world.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The clock jumps ahead under load, and is right again after the next start. */
export const clockForward: Misfortune = {
  name: 'clock-forward',
  whyNot: () => null,
  play: (round) => jump(round, round.random.pick([2 * HOUR_MS, DAY_MS, 40 * DAY_MS, 400 * DAY_MS])),
};

/** The clock jumps back under load, and is right again after the next start. */
export const clockBack: Misfortune = {
  name: 'clock-back',
  whyNot: () => null,
  play: (round) => jump(round, -round.random.pick([HOUR_MS / 60, HOUR_MS, 2 * DAY_MS, 400 * DAY_MS])),
};

function jump(round: Round, byMs: number): Promise<void> {
  const file = join(round.stage.folder, `${round.name}-clock`);
  const setClock = (offsetMs: number): void => writeFileSync(file, new Float64Array([offsetMs]));
  setClock(0);
  const preload = new URL('./moved-clock.ts', import.meta.url).href;
  const env = { NODE_OPTIONS: `--import=${preload}`, TOLLGATE_CLOCK_FILE: file };
  return SqliteWorld.use(round, { env }, (world) => jumpUnderLoad(round, world, setClock, byMs));
}

async function jumpUnderLoad(
  round: Round,
  world: SqliteWorld,
  setClock: (offsetMs: number) => void,
  byMs: number,
): Promise<void> {
  const { random } = round;
  await world.start();
  let spentDay = clockDay(0);
  await spendCap(round, world);
  const traffic = world.traffic();
  await traffic.reached(random.between(1, 200));
  setClock(byMs);
  const before = traffic.seen.length;
  await traffic.reached(150);
  await traffic.end();
  if (traffic.seen.length === before) round.fault(`no call was answered after the clock jumped by ${byMs} ms`);
  const jumpDay = clockDay(byMs);
  await judgeCap(round, world, `the clock moved by ${byMs} ms`, jumpDay > spentDay);
  spentDay = Math.max(spentDay, jumpDay);
  if (random.chance(0.5)) {
    await world.stopAndStart();
    await world.serves();
  }
  setClock(0);
  await world.serves();
  await world.stopAndStart();
  await world.serves();
  // Whatever the clock did, the key's windows never moved back to an earlier day; a midnight in between begins a new one.
  await judgeCap(round, world, 'the clock was set right', clockDay(0) > spentDay);
  await world.audit();
}

function clockDay(offsetMs: number): number {
  return Math.floor((Date.now() + offsetMs) / DAY_MS);
}

const CALLS_PER_DAY_MAX = 100;

/** Calls with the capped key until its cap of the day is used up; resolves to the number of calls that were answered. */
async function spendCap(round: Round, world: SqliteWorld): Promise<number> {
  for (let answered = 0; answered < CALLS_PER_DAY_MAX; answered++) {
    const status = await world.judged(world.cappedKey);
    if (status === 402) return answered;
    if (status !== 200) round.fault(`a call of a key with a cap got ${status}`);
  }
  round.fault('the cap of a key has no effect');
  return CALLS_PER_DAY_MAX;
}

/**
 * If the machine was too busy to count a prompt, the cap refused it by its bytes, and a few more calls may fit later. A
 * new day has room for more than a dozen.
 */
const CALLS_LEFT_MAX = 5;

/** A later day has a fresh cap; the same day or an earlier one does not. */
async function judgeCap(round: Round, world: SqliteWorld, after: string, isLaterDay: boolean): Promise<void> {
  const answered = await spendCap(round, world);
  if (!isLaterDay && answered > CALLS_LEFT_MAX) {
    round.fault(`after ${after}, ${answered} calls of a key over its cap were answered`);
  }
}
