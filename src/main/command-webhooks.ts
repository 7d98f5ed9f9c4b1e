import type { Config } from '../config/config.ts';
import type { Cleanup } from '../kit/cleanup.ts';
import type { Clock } from '../kit/clock.ts';
import { WebhookTargets } from '../webhooks/targets.ts';
import type { Books } from './books.ts';
import { openCustody } from './custody.ts';
import { refuseLostKey } from './lost-key.ts';

export interface CommandParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly books: Books;
  readonly cleanup: Cleanup;
}

/** For a command without a running server: it stores what is to be delivered, and a server delivers it. */
export async function commandWebhooks({ config, clock, books, cleanup }: CommandParts): Promise<WebhookTargets> {
  await refuseLostKey(config.masterKey, books.store);
  const { keyring, egress, close } = openCustody({ config, clock, books });
  cleanup.add(close);
  const { store, ids } = books;
  return new WebhookTargets({ store: store.directory, sealer: keyring.sealer, egress, ids, clock, nudge: () => {} });
}
