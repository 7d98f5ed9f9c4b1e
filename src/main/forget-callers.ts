import { ensureLocalAccount } from '../accounts/accounts.ts';
import type { KeyDirectory } from '../accounts/key-directory.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Books } from './books.ts';

export interface ForgettingTerms {
  readonly config: Pick<Config, 'hosted'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The store was put back to an older state: keys are read again, and the local account may no longer exist. */
export function forgetCallers(
  { config, clock, log }: ForgettingTerms,
  books: Books,
  gate: { readonly directory: KeyDirectory; localAccountId: bigint | null },
): void {
  gate.directory.forget();
  if (config.hosted) return;
  ensureLocalAccount({ ...books, clock }).then(
    ({ id }) => {
      gate.localAccountId = id;
    },
    (error: unknown) => log.error(errorFields(error), 'The local account cannot be read: restart the server.'),
  );
}
