import { ACCOUNT_STATUS } from '../codes.ts';
import { type Program, rowOf } from './program.ts';

interface StateColumns {
  readonly version: bigint;
  readonly status: bigint;
  readonly balance: bigint;
}

export function* stateOf(id: bigint): Program<StateColumns | null> {
  return yield* rowOf<StateColumns>(
    'SELECT version, status, balance FROM account JOIN balance ON account_id = account.id WHERE account.id = ?',
    id,
  );
}

/** Under the account's lock, for a change that a closed account may not have. */
export function* isClosed(id: bigint): Program<boolean> {
  yield { lock: 'account', id };
  return (yield* stateOf(id))?.status === ACCOUNT_STATUS.of.closed;
}
