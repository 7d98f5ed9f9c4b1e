import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Misfortune } from './misfortune.ts';
import { runProgram, whyNoProgram } from './programs.ts';
import type { Round } from './round.ts';
import { SqliteWorld } from './sqlite-world.ts';

/** The unit of `ulimit -f` in every shell. */
const BLOCK_BYTES = 512;

/** Files may not grow any more (`ulimit -f`): writes fail as on a full disk, and no root is needed. */
export const fileSize: Misfortune = {
  name: 'file-size-limit',
  whyNot: () => whyNoProgram('prlimit'),
  play: (round) => SqliteWorld.use(round, {}, (world) => limitFiles(round, world)),
};

async function limitFiles(round: Round, world: SqliteWorld): Promise<void> {
  const { random } = round;
  await world.start();
  const traffic = world.traffic();
  await traffic.reached(random.between(1, 300));
  const bytes = random.below(sizeOf(world, 'tollgate.sqlite-wal') + sizeOf(world, 'tollgate.sqlite'));
  runProgram('prlimit', '--pid', String(world.gateway.pid), `--fsize=${bytes}:`);
  const ending = await Promise.race([world.gateway.ended, traffic.reached(400)]);
  await traffic.end();
  if (ending !== undefined) {
    round.refused(ending, `when files could not exceed ${bytes} bytes`);
  } else {
    const stopped = await world.gateway.end('SIGTERM');
    if (stopped.code !== 0) round.refused(stopped, `stop while files could not exceed ${bytes} bytes`);
  }
  const blocks = Math.floor(bytes / BLOCK_BYTES);
  const launcher = ['sh', '-c', `ulimit -f ${blocks} && exec "$@"`, 'sh'];
  const where = `start with ulimit -f ${blocks}`;
  if (await world.tryStart(where, { launcher })) {
    const stopped = await world.gateway.end('SIGTERM');
    if (stopped.code !== 0) round.refused(stopped, where);
  }
  await world.restart();
  await world.serves();
  await world.audit();
}

function sizeOf({ folder }: SqliteWorld, name: string): number {
  return statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
}
