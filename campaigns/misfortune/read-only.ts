import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { diskFolder } from '../disk-folder.ts';
import type { Misfortune } from './misfortune.ts';
import { runProgram, whyNoProgram } from './programs.ts';
import type { Round } from './round.ts';
import { SmallDisk, whyNoSmallDisk } from './small-disk.ts';
import { SqliteWorld } from './sqlite-world.ts';

/** The files of a data folder can no longer be written, all of them or one. */
export const readOnlyFiles: Misfortune = {
  name: 'read-only-files',
  whyNot: whyNoFrozenFiles,
  play: (round) => SqliteWorld.use(round, {}, (world) => freezeFiles(round, world)),
};

/** A disk is mounted read-only between two starts; without root, the folder loses its permissions instead. */
export const readOnlyDisk: Misfortune = {
  name: 'read-only-disk',
  whyNot: () => (process.getuid?.() === 0 ? whyNoSmallDisk() : null),
  play: (round) => (process.getuid?.() === 0 ? withDisk(round) : withPermissions(round)),
};

const FILES = ['tollgate.sqlite', 'tollgate.sqlite-wal', 'tollgate.mark'];

async function freezeFiles(round: Round, world: SqliteWorld): Promise<void> {
  const { random } = round;
  await world.start();
  const traffic = world.traffic();
  await traffic.reached(random.between(1, 300));
  const names = random.chance(0.4) ? FILES : [random.pick(FILES)];
  const files = names.map((name) => join(world.folder, name)).filter((file) => existsSync(file));
  runProgram('chattr', '+i', ...files);
  try {
    const ending = await Promise.race([world.gateway.ended, traffic.reached(400)]);
    await traffic.end();
    if (ending !== undefined) round.refused(ending, `when ${names} became read-only`);
    else await endReadOnly(round, world, `stop with a read-only ${names}`);
    const where = `start with a read-only ${names}`;
    if (await world.tryStart(where)) await endReadOnly(round, world, where);
  } finally {
    runProgram('chattr', '-i', ...files.filter((file) => existsSync(file)));
  }
  await world.restart();
  await world.serves();
  await world.audit();
}

/** A process that cannot write its last page may say so. */
async function endReadOnly(round: Round, { gateway }: SqliteWorld, where: string): Promise<void> {
  const ending = await gateway.end('SIGTERM');
  if (ending.code !== 0) round.refused(ending, where);
}

async function withDisk(round: Round): Promise<void> {
  const disk = new SmallDisk(join(round.stage.folder, `${round.name}-disk`));
  try {
    await SqliteWorld.use(round, { place: disk.path }, (world) =>
      refuseBetweenStarts(round, world, (isReadOnly) => disk.setReadOnly(isReadOnly)),
    );
  } finally {
    disk.remove();
  }
}

function withPermissions(round: Round): Promise<void> {
  return SqliteWorld.use(round, {}, (world) =>
    refuseBetweenStarts(round, world, (isReadOnly) => {
      for (const name of readdirSync(world.folder)) chmodSync(join(world.folder, name), isReadOnly ? 0o400 : 0o600);
      chmodSync(world.folder, isReadOnly ? 0o500 : 0o700);
    }),
  );
}

async function refuseBetweenStarts(
  round: Round,
  world: SqliteWorld,
  setReadOnly: (isReadOnly: boolean) => void,
): Promise<void> {
  await world.start();
  const traffic = world.traffic();
  await traffic.reached(round.random.between(1, 300));
  const ended = world.gateway.end(round.random.chance(0.5) ? 'SIGTERM' : 'SIGKILL');
  await Promise.all([ended, traffic.end()]);
  setReadOnly(true);
  try {
    await world.mustRefuse('start on a read-only disk');
  } finally {
    setReadOnly(false);
  }
  await world.restart();
  await world.serves();
  await world.audit();
}

/** `chattr` needs root and a file system that knows the flag. */
function whyNoFrozenFiles(): string | null {
  if (process.getuid?.() !== 0) return 'only root may make open files read-only';
  const missing = whyNoProgram('chattr');
  if (missing !== null) return missing;
  const folder = diskFolder('tollgate-files-');
  const file = join(folder, 'file');
  try {
    writeFileSync(file, '');
    runProgram('chattr', '+i', file);
    runProgram('chattr', '-i', file);
    return null;
  } catch {
    return 'the file system of the temporary folder has no such flag';
  } finally {
    rmSync(folder, { recursive: true });
  }
}
