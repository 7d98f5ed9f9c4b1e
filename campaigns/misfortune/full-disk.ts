import { join } from 'node:path';
import type { Misfortune } from './misfortune.ts';
import { pause } from './poll.ts';
import type { Round } from './round.ts';
import { SmallDisk, whyNoSmallDisk } from './small-disk.ts';
import { SqliteWorld } from './sqlite-world.ts';

const PAGE_BYTES = 4096;
const PAGES_LEFT_MAX = 24;

/** The disk of the data folder is full while calls run. */
export const fullDisk: Misfortune = {
  name: 'full-disk',
  whyNot: whyNoSmallDisk,
  play: async (round) => {
    const disk = new SmallDisk(join(round.stage.folder, `${round.name}-disk`));
    try {
      await SqliteWorld.use(round, { place: disk.path }, (world) => fill(round, world, disk));
    } finally {
      disk.remove();
    }
  },
};

async function fill(round: Round, world: SqliteWorld, disk: SmallDisk): Promise<void> {
  const { random } = round;
  await world.start();
  const traffic = world.traffic();
  await traffic.reached(random.between(1, 300));
  disk.shrinkTo(random.below(PAGES_LEFT_MAX) * PAGE_BYTES);
  const ending = await Promise.race([world.gateway.ended, traffic.reached(400)]);
  if (ending !== undefined) {
    round.refused(ending, 'when the disk was full');
    await traffic.end();
    await startOnFullDisk(round, world);
    disk.grow();
    await world.restart();
  } else {
    disk.grow();
    await traffic.end();
    await stopOrLateEnding(round, world);
  }
  await world.serves();
  await world.audit();
}

/** The gateway may have met the full disk in the moment before it grew; its commit fails then as for the others. */
async function stopOrLateEnding(round: Round, world: SqliteWorld): Promise<void> {
  const late = await world.servesOrEnds();
  if (late === null) {
    await world.stopAndStart();
  } else {
    round.refused(late, 'when the disk had been full');
    await world.restart();
  }
}

/** It may start with the little space that is left, but it must not admit calls then. */
async function startOnFullDisk(round: Round, world: SqliteWorld): Promise<void> {
  if (!(await world.tryStart('start on a full disk'))) return;
  const status = await Promise.race([world.call(world.keys[0]!), world.gateway.ended.then(() => 503)]);
  if (status !== 503) round.fault(`a call on a full disk got ${status}`);
  await pause(0);
  const ending = await world.gateway.end('SIGTERM');
  if (ending.code !== 0) round.refused(ending, 'stop on a full disk');
}
