import { z } from 'zod';
import { ACCOUNT_PREFIX, JOB_PREFIX } from '../canonical/id-prefixes.ts';
import type { MasterKeyring } from '../custody/keyring.ts';
import { MasterKeyError } from '../custody/master-keys.ts';
import { rotatePage, sealStatus } from '../custody/rotate.ts';
import { mergedRows, type ReadSealedRows, sealedJobChunks, sealedProviderKeys } from '../custody/sealed-rows.ts';
import { formatId } from '../kit/ids.ts';
import { receiptKeyPlace } from '../signing/receipt-keys.ts';
import type { Directory } from '../store/directory.ts';
import type { Store } from '../store/store.ts';
import { secretPlace } from '../webhooks/secret-box.ts';
import { type ActingServices, auditRow } from './actor.ts';
import { OperatorError } from './error.ts';

/** Where encrypted rows are. */
export type SealedStore = Pick<Store, 'providerKeysAfter' | 'resealProviderKey' | 'jobs'> & {
  readonly directory: Pick<
    Directory,
    'webhookSecretsAfter' | 'resealWebhookSecret' | 'receiptKeysAfter' | 'resealReceiptKey'
  >;
};

/** What the verbs about master keys work on. */
export interface SealServices {
  readonly store: SealedStore;
  /** Read on demand, because few commands need the master keys. Throws a MasterKeyError; makes no key file if it may not. */
  masterKeys(mayMake: boolean): MasterKeyring | Promise<MasterKeyring>;
}

export const sealRotation = z.strictObject({
  /** Creates a master key first; only possible if the key file is our own. */
  new_key: z.boolean().default(false),
  /** Where the previous page ended. */
  after: z
    .string()
    .regex(/^\d{1,19}$/)
    .nullable()
    .default(null),
});

export interface SealRotationView {
  readonly object: 'seal_rotation';
  /** The id of the master key that every row is encrypted with from now on. */
  readonly key: string;
  /** How many other master keys there are, which only decrypt. */
  readonly older_keys: number;
  readonly examined: number;
  readonly rewrapped: number;
  readonly up_to_date: number;
  readonly changed_meanwhile: number;
  readonly unreadable: number;
  readonly next: string | null;
}

/** What cannot be decrypted: the key of a provider, the secret of a webhook, the request or result of a job, or a key that signs receipts. */
export interface UnreadableView {
  /** Null if it belongs to the operator. */
  readonly account: string | null;
  readonly provider: string | null;
  readonly webhook: string | null;
  readonly job?: string | undefined;
  /** The number of a key that signs receipts. */
  readonly receipt_key?: number;
}

export interface SealStatusView {
  readonly object: 'seal_status';
  readonly source: string;
  readonly keys: readonly { readonly id: string; readonly use: 'seals' | 'opens' | 'unknown'; readonly rows: number }[];
  readonly rows: number;
  readonly unreadable: number;
  readonly unreadable_keys: readonly UnreadableView[];
}

type RotationServices = SealServices &
  ActingServices & { readonly store: { readonly directory: Pick<Directory, 'writeAudit'> } };

/**
 * Rotates one page. The first page reads the master keys again, so that a changed file needs no restart, and writes the
 * rotation to the audit before anything is re-encrypted.
 */
export async function rotateSeals(
  services: RotationServices,
  input: z.output<typeof sealRotation>,
): Promise<SealRotationView> {
  let keysBefore: readonly string[] = [];
  const keyring = await masterKeysOf(services, true, async (keys) => {
    keysBefore = keys.sealer.keyIds;
    if (input.after === null) await keys.reload();
    if (input.new_key) keys.addKey();
  });
  if (input.after === null || input.new_key) await auditRotation(services, keysBefore, keyring, input.new_key);
  const after = input.after === null ? null : BigInt(input.after);
  const { examined, rewrapped, upToDate, changedMeanwhile, unreadable, next } = await rotatePage(
    sealedRows(services.store),
    keyring.sealer,
    after,
  );
  return {
    object: 'seal_rotation',
    key: keyring.sealer.keyId,
    older_keys: keyring.sealer.keyIds.length - 1,
    examined,
    rewrapped,
    up_to_date: upToDate,
    changed_meanwhile: changedMeanwhile,
    unreadable,
    next: next === null ? null : String(next),
  };
}

/** Names the master keys by their ids, the one that encrypts first. */
async function auditRotation(
  services: RotationServices,
  keysBefore: readonly string[],
  { sealer }: MasterKeyring,
  isNewKey: boolean,
): Promise<void> {
  const after = { keys: sealer.keyIds, new_key: isNewKey };
  const change = { action: 'seal.rotate', subject: sealer.keyId, before: { keys: keysBefore }, after };
  await services.store.directory.writeAudit(auditRow(services, change));
}

export function showSeals(services: SealServices): Promise<SealStatusView> {
  return statusOf(services, sealedRows(services.store));
}

/** Without the requests and results of jobs, which may be many and large. */
export function showSecretSeals(services: SealServices): Promise<SealStatusView> {
  return statusOf(services, sealedSecrets(services.store));
}

async function statusOf(services: SealServices, read: ReadSealedRows): Promise<SealStatusView> {
  const { sealer, source } = await masterKeysOf(services, false);
  const { rows, byKey, unreadableRows, unreadable } = await sealStatus(read, sealer);
  const known = sealer.keyIds;
  const strangers = [...byKey.keys()].filter((id) => !known.includes(id));
  return {
    object: 'seal_status',
    source,
    keys: [...known, ...strangers].map((id, at) => ({
      id,
      use: at === 0 ? 'seals' : at < known.length ? 'opens' : 'unknown',
      rows: byKey.get(id) ?? 0,
    })),
    rows,
    unreadable: unreadableRows,
    unreadable_keys: unreadable.map(({ accountId, provider, webhook, jobId, receiptKey }) => ({
      account: accountId === null ? null : formatId(ACCOUNT_PREFIX, accountId),
      provider,
      webhook,
      ...(jobId !== undefined && { job: formatId(JOB_PREFIX, jobId) }),
      ...(receiptKey !== undefined && { receipt_key: receiptKey }),
    })),
  };
}

async function masterKeysOf(
  services: SealServices,
  mayMake: boolean,
  prepare?: (keys: MasterKeyring) => Promise<void>,
): Promise<MasterKeyring> {
  try {
    const keys = await services.masterKeys(mayMake);
    await prepare?.(keys);
    return keys;
  } catch (error) {
    if (error instanceof MasterKeyError) throw new OperatorError('refused', error.message);
    throw error;
  }
}

/** Everything that master keys encrypt, except idempotent responses, which last a day. */
export function sealedRows(store: SealedStore): ReadSealedRows {
  return mergedRows(sealedSecrets(store), sealedJobChunks(store.jobs));
}

/** Without the contents of jobs. */
function sealedSecrets(store: SealedStore): ReadSealedRows {
  const webhookSecrets: ReadSealedRows = async (after, limit) =>
    (await store.directory.webhookSecretsAfter(after, limit)).map((row) => ({
      id: row.id,
      sealed: row.sealed,
      place: secretPlace(row),
      owner: { accountId: row.accountId, provider: null, webhook: row.webhookName },
      reseal: (sealed) => store.directory.resealWebhookSecret(row.id, row.sealed, sealed),
    }));
  const receiptKeys: ReadSealedRows = async (after, limit) =>
    (await store.directory.receiptKeysAfter(after, limit)).map((row) => ({
      id: row.id,
      sealed: row.sealed,
      place: receiptKeyPlace(row),
      owner: { accountId: null, provider: null, webhook: null, receiptKey: row.number },
      reseal: (sealed) => store.directory.resealReceiptKey(row.id, row.sealed, sealed),
    }));
  return mergedRows(sealedProviderKeys(store), webhookSecrets, receiptKeys);
}
