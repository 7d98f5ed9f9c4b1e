import { LIMITS } from '../../limits.ts';
import { BEGIN, type Connections, type RunSql } from './connections.ts';
import { sqlState } from './faults.ts';

/**
 * Begins a transaction that locks accounts. It has a time limit on the server, so that a stopped process loses its
 * locks. Locks are taken in a fixed order, which prevents deadlocks: the locks `people` and `names`, instances by epoch,
 * accounts by id, the lock `keys`, the lock `webhooks`, webhooks by id, windows by key, windows by account and person. A
 * transaction that has the lock `keys` takes no lock that comes before it.
 */
export const BEGIN_BRIEF = `${BEGIN} READ WRITE;
  SET LOCAL lock_timeout = ${LIMITS.postgresLockMs};
  SET LOCAL statement_timeout = ${LIMITS.postgresStatementMs};
  SET LOCAL idle_in_transaction_session_timeout = ${LIMITS.postgresSilenceMs}`;

/**
 * Work that only one process at a time may do: the second number of an advisory lock. The first number is Tollgate's.
 */
export const LOCK = {
  schema: 1,
  keys: 2,
  prices: 3,
  instances: 4,
  reaper: 5,
  bookkeeping: 6,
  copy: 7,
  people: 8,
  webhooks: 9,
  names: 10,
  refusals: 11,
} as const;
type LockName = keyof typeof LOCK;

/** "toll" in four bytes. */
const NAMESPACE = 0x74_6f_6c_6c;

/** Waits for the lock, which ends with the transaction. */
export async function takeLock(sql: RunSql, name: LockName): Promise<void> {
  await sql('SELECT pg_advisory_xact_lock($1::int4, $2::int4)', [NAMESPACE, LOCK[name]]);
}

async function takeSharedLock(sql: RunSql, name: LockName): Promise<void> {
  await sql('SELECT pg_advisory_xact_lock_shared($1::int4, $2::int4)', [NAMESPACE, LOCK[name]]);
}

/** Waits for batches that change the account; the lock ends with the transaction. */
export async function lockAccount(sql: RunSql, accountId: bigint): Promise<void> {
  await sql('SELECT 1 FROM balance WHERE account_id = $1 FOR NO KEY UPDATE', [accountId]);
}

/** Null if another process holds the lock. */
export async function tryLock(sql: RunSql, name: LockName): Promise<boolean> {
  const [row] = await sql<{ free: boolean }>('SELECT pg_try_advisory_xact_lock($1::int4, $2::int4) AS free', [
    NAMESPACE,
    LOCK[name],
  ]);
  return row!.free;
}

/** The lock for archiving. Unlike the locks above, there is one for each schema, and nobody waits for it. */
export async function tryArchiveLock(sql: RunSql): Promise<boolean> {
  const [row] = await sql<{ free: boolean }>(
    "SELECT pg_try_advisory_xact_lock($1::int4, hashtext('archive ' || current_schema())) AS free",
    [NAMESPACE],
  );
  return row!.free;
}

/** Waits until nobody closes or deletes receipts, and nobody verifies. */
export function takeBookkeeping(sql: RunSql, isClosed: () => boolean): Promise<void> {
  return takeLongLock(sql, isClosed, () => takeLock(sql, 'bookkeeping'));
}

/** Waits until nobody closes or deletes receipts. */
export function shareBookkeeping(sql: RunSql, isClosed: () => boolean): Promise<void> {
  return takeLongLock(sql, isClosed, () => takeSharedLock(sql, 'bookkeeping'));
}

/**
 * Takes a lock that another process may have for hours. The server ends each wait, and we ask again: a query without a
 * reply would be taken for a lost connection. A store that is closed meanwhile is not asked again, so that the process can end.
 */
async function takeLongLock(sql: RunSql, isClosed: () => boolean, take: () => Promise<void>): Promise<void> {
  await sql(`SET LOCAL lock_timeout = ${LIMITS.postgresLockMs}`);
  await sql('SAVEPOINT waiting');
  for (;;) {
    try {
      await take();
      return;
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE || isClosed()) throw error;
      await sql('ROLLBACK TO SAVEPOINT waiting');
    }
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

/** Holds a lock while longer work runs in separate transactions. */
export function underLock<Result>(
  connections: Connections,
  take: (sql: RunSql, isClosed: () => boolean) => Promise<unknown>,
  run: (sql: RunSql) => Promise<Result>,
): Promise<Result> {
  return connections.transaction(async (sql) => {
    await sql('SET LOCAL idle_in_transaction_session_timeout = 0');
    await take(sql, () => connections.closed);
    return run(sql);
  });
}
