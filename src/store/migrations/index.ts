import { ledger } from './0001-ledger.ts';
import { custodyAndIdempotency } from './0002-custody-and-idempotency.ts';
import { tries } from './0003-tries.ts';
import { requests } from './0004-requests.ts';
import { heldInOpenCalls } from './0005-held-in-open-calls.ts';
import { chain } from './0006-chain.ts';
import { permissions } from './0007-permissions.ts';
import { receiptsByAccount } from './0008-receipts-by-account.ts';
import { progress } from './0009-progress.ts';
import { providerKeyUse } from './0010-provider-key-use.ts';
import { lossAllowance } from './0011-loss-allowance.ts';
import { callsByAccount } from './0012-calls-by-account.ts';
import { people } from './0013-people.ts';
import { monthTrees } from './0014-month-trees.ts';
import { tokenOverruns } from './0015-token-overruns.ts';
import { adjusted } from './0016-adjusted.ts';
import { olderState } from './0017-older-state.ts';
import { personCaps } from './0018-person-caps.ts';
import { keySecrets } from './0019-key-secrets.ts';
import { refunds } from './0020-refunds.ts';
import { keyTerms } from './0021-key-terms.ts';
import { webhooks } from './0022-webhooks.ts';
import { rights } from './0023-rights.ts';
import { firstByte } from './0024-first-byte.ts';
import { usageSums } from './0025-usage.ts';
import { refusals } from './0026-refusals.ts';
import { alerts } from './0027-alerts.ts';
import { jobs } from './0028-jobs.ts';
import { archive } from './0029-archive.ts';
import { signedReceipts } from './0030-signed-receipts.ts';
import { confirmedAlerts } from './0031-confirmed-alerts.ts';
import type { Migration } from './migration.ts';

/** In order, numbered from 1 without gaps. */
export const MIGRATIONS: readonly Migration[] = [
  ledger,
  custodyAndIdempotency,
  tries,
  requests,
  heldInOpenCalls,
  chain,
  permissions,
  receiptsByAccount,
  progress,
  providerKeyUse,
  lossAllowance,
  callsByAccount,
  people,
  monthTrees,
  tokenOverruns,
  adjusted,
  olderState,
  personCaps,
  keySecrets,
  refunds,
  keyTerms,
  webhooks,
  rights,
  firstByte,
  usageSums,
  refusals,
  alerts,
  jobs,
  archive,
  signedReceipts,
  confirmedAlerts,
];
