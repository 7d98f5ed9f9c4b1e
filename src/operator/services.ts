import type { AccountServices } from '../accounts/accounts.ts';
import type { HangupFacts } from '../canonical/balance-view.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { JobControl } from '../jobs/jobs.ts';
import type { IdSource } from '../kit/ids.ts';
import type { Account, Ledger, VerifyProgress } from '../ledger/ledger.ts';
import type { ReceiptMismatch } from '../signing/receipt-signer.ts';
import type { WebhookTargets } from '../webhooks/targets.ts';
import type { LiveServices } from './live-services.ts';
import type { PeopleServices } from './people.ts';
import type { SealServices } from './seal.ts';
import type { BackupServices } from './store.ts';
import type { ServerFacts } from './view.ts';

/** What the verbs work on: the running server's services, or those that a command opened itself. */
export interface OperatorServices
  extends AccountServices,
    BackupServices,
    PeopleServices,
    Pick<SealServices, 'masterKeys'> {
  readonly ids: Pick<IdSource, 'next' | 'aheadMs'>;
  readonly ledger: Pick<Ledger, 'credit' | 'verify' | 'balance' | 'releaseJob'>;
  /** What is left of an account's loss allowance; null if the account has no limit. */
  hangups(account: Account): HangupFacts | null;
  /** Why the ledger is read-only; null if it is not. */
  readonly moved: string | null;
  catalog(): Pick<Catalog, 'list' | 'resolve' | 'priceVersion'>;
  /** This process's cache of keys; null if no server runs. */
  readonly directory: { refresh(): Promise<void> } | null;
  /** The URLs that events are sent to. Fails with a MasterKeyError if there is no master key. */
  webhooks(): Promise<WebhookTargets>;
  /** Where receipts are archived unless a command names another folder. */
  readonly archiveFolder?: string | null;
  /** Deferred jobs; absent where there are none. */
  jobs?(): Promise<JobControl>;
  /** Called for a closed receipt that was changed, when somebody wants it signed. */
  onMismatch?(mismatch: ReceiptMismatch): void;
  /** Absent if no server runs. */
  readonly live?: LiveServices;
  /** Null if no server runs. */
  readonly server: ServerFacts | null;
}

export type Progress = (done: VerifyProgress) => void;
