import pg from 'pg';
import { StoreUnavailable } from '../store.ts';

/** PostgreSQL's five-character error code; null for any other error. */
export function sqlState(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}

/**
 * Bad data, a violated constraint, a text too long for its index: the operation itself is at fault, and a retry would
 * fail again.
 */
export function isPoison(error: unknown): boolean {
  return error instanceof Unwritable || ['22', '23', '54'].includes(sqlState(error)?.slice(0, 2) ?? '');
}

/** An operation could not be encoded for PostgreSQL. */
class Unwritable extends Error {}

/**
 * Before the commit, an error that comes neither from PostgreSQL nor from the connection is the operation's own fault
 * too.
 */
export function blamed(error: unknown): unknown {
  const isTheirs = sqlState(error) !== null || error instanceof StoreUnavailable;
  return isTheirs ? error : new Unwritable(String(error), { cause: error });
}

/** A deadlock or serialization failure: the transaction was rolled back and can be retried. */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** The connection is lost; operations without a reply may or may not have happened. */
export class ConnectionLost extends StoreUnavailable {}

/** The client stopped waiting for the answer. A lock may be the reason, so other connections may be well. */
export function isOverdue({ cause }: ConnectionLost): boolean {
  return cause instanceof Error && cause.message === 'Query read timeout';
}

/** Error codes after which the session is gone or the server is no longer writable. */
const LAST_WORDS = new Set(['25P03', '25006', '57P01', '57P02', '57P03', '57P04', '57P05']);

/** Calls the client library and tells errors of PostgreSQL from the loss of the connection. */
export async function asked<Result>(asking: Promise<Result>): Promise<Result> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    const state = sqlState(error);
    const isAnswer = state !== null && !/^(08|28|3D)/.test(state) && !LAST_WORDS.has(state);
    throw isAnswer ? error : new ConnectionLost(describe(error), { cause: error });
  }
}

/** The error for callers: always StoreUnavailable. */
export function asUnavailable(error: unknown): StoreUnavailable {
  return error instanceof StoreUnavailable ? error : new StoreUnavailable(describe(error), { cause: error });
}

/** The message never contains the URL, which may include a password. */
function describe(error: unknown): string {
  const code = sqlState(error) ?? (error as NodeJS.ErrnoException).code ?? null;
  const message = error instanceof Error && error.message !== '' ? error.message : 'no answer';
  return `PostgreSQL: ${message}${code === null ? '' : ` (${code})`}`;
}
