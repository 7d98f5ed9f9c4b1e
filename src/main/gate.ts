import { ensureLocalAccount } from '../accounts/accounts.ts';
import type { Gate } from '../accounts/authenticate.ts';
import { KeyDirectory } from '../accounts/key-directory.ts';
import type { Config } from '../config/config.ts';
import type { Caches } from '../kit/caches.ts';
import type { Cleanup } from '../kit/cleanup.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Books } from './books.ts';

/** Changed when the store is replaced, and once the pages of the management API are known. */
export interface AuthGate extends Gate {
  readonly directory: KeyDirectory;
  localAccountId: bigint | null;
  page: Gate['page'];
}

interface GateParts {
  readonly config: Pick<Config, 'hosted'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly books: Books;
  readonly caches: Caches;
  readonly cleanup: Cleanup;
}

/** Whom the callers' port lets in: the keys of the ledger, and in local mode everybody, on the local account. */
export async function openGate(parts: GateParts, localAccountId: bigint | null): Promise<AuthGate> {
  const { clock, books, caches, cleanup } = parts;
  const directory = new KeyDirectory(books.store, clock);
  cleanup.add(() => directory.stop());
  await directory.start();
  caches.addAll(() => directory.sizes());
  const gate: AuthGate = { directory, localAccountId, page: null };
  books.onReplaced(() => forgetCallers(parts, gate));
  return gate;
}

/** The store was put back to an older state: keys are read again, and the local account may no longer exist. */
function forgetCallers({ config, clock, log, books }: GateParts, gate: AuthGate): void {
  gate.directory.forget();
  if (config.hosted) return;
  ensureLocalAccount({ ...books, clock }).then(
    ({ id }) => {
      gate.localAccountId = id;
    },
    (error: unknown) => log.error(errorFields(error), 'The local account cannot be read: restart the server.'),
  );
}
