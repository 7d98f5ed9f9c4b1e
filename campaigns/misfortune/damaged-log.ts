import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../test/random.ts';
import { runCommand } from '../gateway-process.ts';
import type { ClientCall } from '../kill/load.ts';
import type { Misfortune } from './misfortune.ts';
import type { Round } from './round.ts';
import { SqliteWorld } from './sqlite-world.ts';

/** The write-ahead log is damaged after the process was killed. */
export const damagedLog: Misfortune = {
  name: 'damaged-log',
  whyNot: () => null,
  play: (round) => SqliteWorld.use(round, {}, (world) => damage(round, world)),
};

const DAMAGES: Readonly<Record<string, (log: string, random: Random) => void>> = {
  'a flipped bit': (log, random) => {
    const bytes = readFileSync(log);
    if (bytes.length > 0) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    writeFileSync(log, bytes);
  },
  'a page of zeros': (log, random) => {
    const bytes = readFileSync(log);
    const at = random.below(Math.max(1, bytes.length));
    bytes.fill(0, at, at + 4096);
    writeFileSync(log, bytes);
  },
  'a lost tail': (log, random) => truncateSync(log, random.below(1 + statSync(log).size)),
  'a deleted log': (log) => rmSync(log),
  noise: (log, random) => writeFileSync(log, Buffer.alloc(random.between(1, 200_000), random.below(256))),
};

async function damage(round: Round, world: SqliteWorld): Promise<void> {
  const { random } = round;
  await world.start();
  const backup = join(world.folder, '..', 'backup.sqlite');
  const traffic = world.traffic();
  await traffic.reached(random.between(1, 200));
  const safe = traffic.seen;
  const hasBackup = random.chance(0.5);
  if (hasBackup) await world.gateway.ask('store.backup', { file: backup });
  await traffic.reached(random.between(1, 200));
  await world.gateway.end('SIGKILL');
  await traffic.end();
  const log = join(world.folder, 'tollgate.sqlite-wal');
  const how = random.pick(Object.keys(DAMAGES));
  if (existsSync(log)) DAMAGES[how]!(log, random);
  if (await world.tryStart(`start after ${how}`)) {
    await world.serves();
    await world.audit();
    return;
  }
  const lost = hasBackup ? await restore(round, world, backup) : await acceptLoss(round, world, how);
  await world.restart();
  await world.serves();
  await forgiveLoss(round, world, traffic.calls, hasBackup ? safe : [], lost);
  await world.audit();
}

/** Resolves to how many receipts may be missing: all that are newer than the backup. */
async function restore(round: Round, world: SqliteWorld, backup: string): Promise<number> {
  const { code, text } = await runCommand(world.folder, 'store', 'restore', backup, '--force');
  if (code !== 0) round.fault(`restoring a backup ended with ${code}: ${text}`);
  return Number.POSITIVE_INFINITY;
}

/** Resolves to how many receipts the command says are missing. */
async function acceptLoss(round: Round, { folder }: SqliteWorld, how: string): Promise<number> {
  const asked = await runCommand(folder, 'store', 'accept-loss');
  const receipts = /--receipts (\d+)/.exec(asked.text)?.[1] ?? '';
  const { code, text } = await runCommand(folder, 'store', 'accept-loss', '--receipts', receipts);
  if (code !== 0) round.fault(`after ${how}, accepting the loss of ${receipts} receipts ended with ${code}: ${text}`);
  return Number(receipts);
}

/**
 * Takes lost receipts out of what has to be in the ledger. No more than that many may be missing, and none of those
 * that the backup has.
 */
async function forgiveLoss(
  round: Round,
  world: SqliteWorld,
  calls: readonly ClientCall[],
  safe: readonly ClientCall[],
  lost: number,
): Promise<void> {
  const settled = await world.settledLabels();
  const missing = calls.filter((call) => call.costNanousd !== null && !settled.has(call.label) && !safe.includes(call));
  if (missing.length > lost) round.fault(`${missing.length} receipts are missing, but the gateway named ${lost}`);
  for (const call of missing) call.costNanousd = null;
}
