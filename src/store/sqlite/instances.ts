import type { DatabaseSync } from 'node:sqlite';
import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { pauseAll } from '../programs/jobs.ts';
import { DIED_REASON } from '../store.ts';
import { runProgram } from './directory.ts';
import { readMeta, writeMeta } from './meta.ts';
import type { Operations } from './operations.ts';
import type { RowCache } from './row-cache.ts';

/** After this, holds of earlier epochs are refused; the open ones are voided next. */
export function beginEpoch(database: DatabaseSync, cache: RowCache): bigint {
  const epoch = cache.epoch + 1n;
  database.prepare('INSERT INTO instance VALUES (?, ?)').run(epoch, cache.nowMs);
  // Every start adds a row, and only the last epoch is read.
  const forgottenMs = cache.nowMs - BigInt(LIMITS.instanceForgottenMs);
  database.prepare('DELETE FROM instance WHERE epoch < ? AND started_ms < ?').run(epoch, forgottenMs);
  cache.epoch = epoch;
  pauseRestoredJobs(database);
  return epoch;
}

/** Jobs of a restored ledger may have run after the backup, so only an operator lets them run again. */
function pauseRestoredJobs(database: DatabaseSync): void {
  const generation = readMeta(database, 'generation');
  if (readMeta(database, 'jobs_generation') === generation) return;
  runProgram(database, pauseAll());
  writeMeta(database, 'jobs_generation', generation);
}

/** One step: voids some open holds of earlier epochs and returns how many. */
export function voidSlice(database: DatabaseSync, cache: RowCache, operations: Operations): number {
  const orphans = database
    .prepare(`SELECT id FROM call WHERE state = ${CALL_STATE.of.open} AND epoch < ? LIMIT ?`)
    .all(cache.epoch, BigInt(LIMITS.storeWriteSliceRows));
  for (const { id } of orphans) operations.void(id as bigint, DIED_REASON);
  return orphans.length;
}

/** The highest id of any call; deleted ones are in the closed part. */
export function lastCallId(database: DatabaseSync): bigint {
  const [row] = database.prepare('SELECT max(id) AS id FROM call').all();
  const last = (row?.id ?? 0n) as bigint;
  const closed = readMeta(database, 'closed_up_to');
  return last > closed ? last : closed;
}

export function registerPrices(database: DatabaseSync, version: string, pricesJson: string): number {
  const known = database.prepare('SELECT id, prices FROM price_list WHERE version = ?').get(version);
  if (known !== undefined && known.prices !== pricesJson) {
    throw new Error(`The price list ${version} is already registered with other prices, and price lists never change.`);
  }
  const row =
    known ??
    database.prepare('INSERT INTO price_list (version, prices) VALUES (?, ?) RETURNING id').get(version, pricesJson);
  return Number(row?.id);
}
