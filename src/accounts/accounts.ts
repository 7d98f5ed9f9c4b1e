import { ACCOUNT_PREFIX, CREDIT_PREFIX, REFUND_PREFIX } from '../canonical/id-prefixes.ts';
import type { Clock } from '../kit/clock.ts';
import { formatId, parseId } from '../kit/ids.ts';
import type { Secret } from '../kit/secret.ts';
import { NO_LOSS } from '../store/loss-allowance.ts';
import type { AuditRow } from '../store/people.ts';
import type { Account, AccountKind, CreditOperation, KeyCreation, KeyRow, NewKey, Store } from '../store/store.ts';
import { mintSecret } from './keys.ts';

/** The account of callers without a key in local mode; no other account may have this name. */
export const LOCAL_ACCOUNT_NAME = 'local';

/** The row of the audit for something whose id is known only when it is made. */
type AuditOf = (id: bigint) => AuditRow;

export interface AccountServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: { next(): bigint };
}

export async function createAccount(
  services: AccountServices,
  account: { name: string; kind: AccountKind },
  audit?: AuditOf,
): Promise<Account | 'name_taken'> {
  if (account.name === LOCAL_ACCOUNT_NAME) return 'name_taken';
  return insertAccount(services, account, audit);
}

/** Created at the first start in local mode. Its spend is recorded, never refused. */
export async function ensureLocalAccount(services: AccountServices): Promise<Account> {
  const existing = await services.store.findAccount(LOCAL_ACCOUNT_NAME);
  if (existing !== null) return existing;
  const created = await insertAccount(services, { name: LOCAL_ACCOUNT_NAME, kind: 'unlimited' });
  const account = created === 'name_taken' ? await services.store.findAccount(LOCAL_ACCOUNT_NAME) : created;
  if (account === null) throw new Error('The local account does not exist and cannot be created.');
  return account;
}

async function insertAccount(
  { store, clock, ids }: AccountServices,
  { name, kind }: { name: string; kind: AccountKind },
  audit?: AuditOf,
): Promise<Account | 'name_taken'> {
  const account = { id: ids.next(), name, kind, createdMs: clock.nowMs() };
  const outcome = await store.createAccount(account, audit?.(account.id));
  const nothing = { balanceNanousd: 0n, heldNanousd: 0n, reservedNanousd: 0n, spentNanousd: 0n, ...NO_LOSS };
  return outcome === 'created' ? { ...account, ...nothing, status: 'active', version: 1n } : outcome;
}

/** By id (`acct_…`) or by name. */
export function findAccount(store: Store, idOrName: string): Promise<Account | null> {
  return store.findAccount(parseId(ACCOUNT_PREFIX, idOrName) ?? idOrName);
}

interface CreditRequest {
  readonly accountId: bigint;
  readonly amountNanousd: bigint;
  /** The same reference is credited once, however often it is sent; null generates one. */
  readonly reference: string | null;
  readonly note: string | null;
  /** The call that is refunded. */
  readonly callId?: bigint;
  /** Makes the row of the audit from the reference under which the credit is stored. */
  audit?(reference: string): AuditRow;
}

/** Credits an account through the ledger, which alone moves money. */
export async function creditAccount<Outcome>(
  { clock, ids }: AccountServices,
  credit: (credit: Omit<CreditOperation, 'kind'>) => Promise<Outcome>,
  request: CreditRequest,
): Promise<{ outcome: Outcome; reference: string }> {
  const { audit, ...asked } = request;
  const id = ids.next();
  const reference = asked.reference ?? formatId(asked.callId === undefined ? CREDIT_PREFIX : REFUND_PREFIX, id);
  const row = audit?.(reference);
  const written = { ...asked, id, reference, createdMs: clock.nowMs() };
  const outcome = await credit(row === undefined ? written : { ...written, audit: row });
  return { outcome, reference };
}

/** A new key but for what is made here: its id and its secret. */
interface KeyRequest extends Omit<NewKey, 'id' | 'personId' | 'sha256Hex' | 'prefix' | 'lastFour' | 'createdMs'> {
  /** Whose key it is; absent if it belongs to no person. The person needs a role in the account. */
  readonly personId?: bigint | null;
}

/** Returns the secret once; the store keeps only its hash. */
export async function mintKey(
  { store, clock, ids }: AccountServices,
  request: KeyRequest,
  audit?: AuditOf,
): Promise<{ key: KeyRow; secret: Secret } | Exclude<KeyCreation, 'created'>> {
  const { secret, ...stored } = mintSecret();
  const id = ids.next();
  const row = { personId: null, ...request, ...stored, id, createdMs: clock.nowMs() };
  const outcome = await store.createKey(row, audit?.(id));
  if (outcome !== 'created') return outcome;
  const key = await store.findKey(id);
  if (key === null) throw new Error('The store does not have the key that was just created.');
  return { key, secret };
}
