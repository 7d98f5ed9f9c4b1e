import pg from 'pg';
import { StoreUnavailable } from '../store.ts';

/** PostgreSQL's own five letters for what went wrong; null for anything that is not its answer. */
export function sqlState(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null;
}

/** Bad data, a broken rule, a text too long for its index: this operation's own fault, and always again. */
export function isPoison(error: unknown): boolean {
  return error instanceof Unwritable || ['22', '23', '54'].includes(sqlState(error)?.slice(0, 2) ?? '');
}

/** What an operation of a batch is that could not even be put into words for PostgreSQL. */
class Unwritable extends Error {}

/** Before the commit, an error that neither PostgreSQL nor the way to it gave is an operation's own fault too. */
export function blamed(error: unknown): unknown {
  const isTheirs = sqlState(error) !== null || error instanceof StoreUnavailable;
  return isTheirs ? error : new Unwritable(String(error), { cause: error });
}

/** Two transactions were in each other's way and this one was rolled back: it may simply be tried again. */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** The connection cannot be used any more; whatever was not answered on it may or may not have happened. */
export class ConnectionLost extends StoreUnavailable {}

/** Answers after which the session is gone, or the server is not the one that may be written to. */
const LAST_WORDS = new Set(['25P03', '25006', '57P01', '57P02', '57P03', '57P04', '57P05']);

/** Asks the client library, and tells an answer of PostgreSQL from the loss of the connection to it. */
export async function asked<Result>(asking: Promise<Result>): Promise<Result> {
  try {
    return await asking;
  } catch (error) {
    const state = sqlState(error);
    const isAnswer = state !== null && !/^(08|28|3D)/.test(state) && !LAST_WORDS.has(state);
    throw isAnswer ? error : new ConnectionLost(inWords(error), { cause: error });
  }
}

/** What a caller is told who cannot be served: never a guess, never another kind of error. */
export function asUnavailable(error: unknown): StoreUnavailable {
  return error instanceof StoreUnavailable ? error : new StoreUnavailable(inWords(error), { cause: error });
}

/** A URL with a password in it is never part of these words. */
function inWords(error: unknown): string {
  const code = sqlState(error) ?? (error as NodeJS.ErrnoException).code ?? null;
  const message = error instanceof Error && error.message !== '' ? error.message : 'no answer';
  return `PostgreSQL: ${message}${code === null ? '' : ` (${code})`}`;
}
