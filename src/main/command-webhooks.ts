import type { Config } from '../config/config.ts';
import { meansThisMachine } from '../egress/caller-url.ts';
import { ForbiddenUrl } from '../egress/forbidden-url.ts';
import type { GuardedEgress } from '../egress/guarded-egress.ts';
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
  const isShared = config.store !== null;
  const custody = openCustody({ config: isShared ? { ...config, hosted: true } : config, clock, books });
  cleanup.add(custody.close);
  const { store, ids } = books;
  const { sealer } = custody.keyring;
  const egress = isShared ? explaining(custody.egress) : custody.egress;
  return new WebhookTargets({ store: store.directory, sealer, egress, ids, clock, nudge: () => {} });
}

const UNKNOWN_MODE =
  'This command does not know the mode of the servers of this database, and judges URLs as in hosted mode. ' +
  'If they serve in local mode, add it in the console or with the management API.';

/** Says why a URL is refused that servers in local mode would deliver to. */
function explaining(egress: Pick<GuardedEgress, 'vet'>): Pick<GuardedEgress, 'vet'> {
  return {
    vet: (text) =>
      egress.vet(text).catch((error: unknown) => {
        const host = URL.parse(text)?.hostname.replace(/^\[|\]$/g, '') ?? '';
        if (!(error instanceof ForbiddenUrl) || !meansThisMachine(host)) throw error;
        throw new ForbiddenUrl(error.reason, `${error.message} ${UNKNOWN_MODE}`);
      }),
  };
}
