import type { z } from 'zod';
import { mintKey } from '../accounts/accounts.ts';
import { mintSecret } from '../accounts/keys.ts';
import { KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { shellWord } from '../kit/shell-words.ts';
import { LIMITS } from '../limits.ts';
import type { Person } from '../store/people.ts';
import type { Account, KeyChange, KeyRow } from '../store/store.ts';
import { accountIsClosed } from './account-states.ts';
import { auditRow, differences } from './actor.ts';
import { invalidMember, noLongerAllowed, OperatorError, versionConflict } from './error.ts';
import type * as inputs from './input.ts';
import { toMs } from './input.ts';
import { keyChangeOf } from './key-change.ts';
import { accountNamed, afterId, findPerson, keyNamed, personIn, unknownAccount, unknownKey } from './lookup.ts';
import { actsAsMember, fixedTerms, refuseBeyond } from './owner-terms.ts';
import type { OperatorServices } from './services.ts';
import { type KeyView, keySpendingView, keyView, type ListView, listView, type ShownKeyView } from './view.ts';
import { cancelWaitingJobs } from './waiting-jobs.ts';

const DAY_S = 86_400;

export async function mint(
  services: OperatorServices,
  input: z.output<typeof inputs.keyMinting>,
): Promise<KeyView & { secret: string; unknown_models: readonly string[] }> {
  const account = await accountNamed(services, input.account);
  if (account.status === 'closed') throw accountIsClosed(account);
  refuseExpiry(services, input.expires_at);
  if (input.window !== 'lifetime' && input.spend_cap_nanousd === null) throw windowWithoutCap();
  const models = resolveModels(services, input.models);
  const person = input.person === null ? null : await personIn(services, input.person, account);
  const terms = {
    accountId: account.id,
    personId: person?.id ?? null,
    name: input.name,
    capNanousd: input.spend_cap_nanousd,
    capWindow: input.window,
    expiresMs: toMs(input.expires_at),
    models: models.ids,
    permissions: input.allow,
    onUnsupported: input.on_unsupported,
    note: input.note,
    maxCostNanousd: input.max_cost_nanousd,
  };
  const isOwnersTerms = person !== null && !(await actsAsMember(services, terms));
  const ownerTerms = isOwnersTerms ? fixedTerms({ ...terms, ownerTerms: {} }, terms) : {};
  const minted = await mintKey(services, { ...terms, ownerTerms }, (id) =>
    auditRow(services, { action: 'key.mint', subject: formatId(KEY_PREFIX, id), accountId: account.id, after: input }),
  );
  if (minted === 'not_allowed') throw noLongerAllowed();
  if (minted === 'no_account') throw unknownAccount(input.account);
  if (minted === 'no_member') throw notMember(account, person);
  if (minted === 'too_many_keys') throw tooManyKeys(account, person);
  await tellDirectory(services);
  const view = keyView(minted.key, services.clock.nowMs());
  return { ...view, secret: minted.secret.reveal(), unknown_models: models.unknown };
}

function notMember(account: Account, person: Person | null): OperatorError {
  const message = `${person?.email} is not an owner or member of the account "${account.name}", or is disabled.`;
  return new OperatorError('refused', message, `tollgate people show ${person?.email}`);
}

function tooManyKeys(account: Account, person: Person | null): OperatorError {
  const message = `${person?.email} has ${LIMITS.keysPerPersonMax} keys in the account "${account.name}". Revoke those that are not needed.`;
  return new OperatorError('refused', message, `tollgate keys list --account ${shellWord(account.name)}`);
}

export async function listKeys(
  services: OperatorServices,
  input: z.output<typeof inputs.keyPage>,
): Promise<ListView<ShownKeyView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const page = { limit: input.limit, after: afterId(KEY_PREFIX, input.after) };
  const person = input.person === null ? null : await findPerson(services, input.person);
  const keys = input.person !== null && person === null ? [] : await keysOf(services, account, person, page);
  // Somebody who has left the account may still have keys; others who are not in it are the same as nobody.
  if (input.person !== null && page.after === null && keys.length === 0)
    await personIn(services, input.person, account);
  return listView(await shownKeys(services, keys), input.limit);
}

/** Keys of one person are picked from those of the account: there are few enough. */
async function keysOf(
  { store }: OperatorServices,
  account: Account | null,
  person: Person | null,
  page: { readonly limit: number; readonly after: bigint | null },
): Promise<KeyRow[]> {
  if (person === null) return store.listKeys(account?.id ?? null, page);
  const found: KeyRow[] = [];
  let after = page.after;
  for (;;) {
    const rows = await store.listKeys(account?.id ?? null, { limit: LIMITS.storePageRowsMax, after });
    found.push(...rows.filter(({ personId }) => personId === person.id));
    if (rows.length < LIMITS.storePageRowsMax || found.length >= page.limit) return found.slice(0, page.limit);
    after = rows.at(-1)!.id;
  }
}

async function shownKeys({ store, clock }: OperatorServices, keys: readonly KeyRow[]): Promise<ShownKeyView[]> {
  const spending = await store.spendingOf(keys);
  return keys.map((key) => ({ ...keyView(key, clock.nowMs()), ...keySpendingView(key, spending.get(key.id)) }));
}

export async function showKey(
  services: OperatorServices,
  input: z.output<typeof inputs.keyChoice>,
): Promise<ShownKeyView> {
  const [shown] = await shownKeys(services, [await keyNamed(services, input.key)]);
  return shown!;
}

export async function updateKey(
  services: OperatorServices,
  input: z.output<typeof inputs.keyUpdate>,
): Promise<KeyView & { unknown_models: readonly string[] }> {
  refuseExpiry(services, input.expires_at ?? null);
  const models = resolveModels(services, input.models ?? null);
  const change = keyChangeOf(input, models.ids);
  if ((change.capWindow ?? 'lifetime') !== 'lifetime') await refuseWindowWithoutCap(services, input.key, change);
  const version = input.version === undefined ? null : BigInt(input.version);
  const changed = await changeWithinTerms(services, input.key, change, version);
  return { ...changed, unknown_models: models.unknown };
}

/**
 * What an owner fixes, and what a member may change, depends on the key that was read. So it must not have changed since;
 * if it has, and the caller named no version, it is read again.
 */
async function changeWithinTerms(
  services: OperatorServices,
  idText: string,
  change: KeyChange,
  version: bigint | null,
  retries = 3,
): Promise<KeyView> {
  const key = await keyNamed(services, idText);
  if (key.personId === null) return changeKey(services, idText, change, { version });
  const isMember = await actsAsMember(services, key);
  if (isMember) refuseBeyond(key, change);
  const within = isMember ? change : { ...change, ownerTerms: fixedTerms(key, change) };
  return changeKey(services, idText, within, { version: version ?? key.version }).catch((error: unknown) => {
    const isRace = error instanceof OperatorError && error.code === 'version_conflict' && version === null;
    if (!isRace || retries === 0) throw error;
    return changeWithinTerms(services, idText, change, version, retries - 1);
  });
}

function refuseExpiry({ clock }: OperatorServices, expiresAt: number | null): void {
  if (expiresAt === null) return;
  const daysLeft = (expiresAt - clock.nowMs() / 1000) / DAY_S;
  if (daysLeft <= 0) throw invalidMember('expires_at', 'must be in the future; to stop a key, revoke it.');
  if (daysLeft > LIMITS.keyLifeDaysMax)
    throw invalidMember(
      'expires_at',
      `must be within ${LIMITS.keyLifeDaysMax} days; for a key that never expires, leave it out or send null.`,
    );
}

/** Without a cap a window limits nothing, and the operator would rely on a limit that does not exist. */
async function refuseWindowWithoutCap(services: OperatorServices, idText: string, change: KeyChange): Promise<void> {
  const { capNanousd } = { ...(await keyNamed(services, idText)), ...change };
  if (capNanousd === null) throw windowWithoutCap();
}

function windowWithoutCap(): OperatorError {
  const message = 'A window sets when a spend cap resets, but this key has no cap. Set a cap too.';
  return new OperatorError('invalid_input', message, null, 'window');
}

/** The new secret is returned once. A caller that loses the response has to rotate again. */
export async function rotateKey(
  services: OperatorServices,
  input: z.output<typeof inputs.keyRotation>,
): Promise<KeyView & { secret: string }> {
  const key = await keyNamed(services, input.key);
  const { secret, ...stored } = mintSecret();
  const oldExpiresMs = services.clock.nowMs() + input.grace_seconds * 1000;
  const rotated = { ...key, ...stored, replaced: { sha256Hex: key.sha256Hex, expiresMs: oldExpiresMs } };
  const audit = auditRow(services, {
    action: 'key.rotate',
    subject: input.key,
    accountId: key.accountId,
    ...differences(keyView(key, services.clock.nowMs()), keyView(rotated, services.clock.nowMs())),
  });
  const version = input.version === undefined ? {} : { version: BigInt(input.version) };
  const outcome = await services.store.rotateKey(key.id, { secret: stored, oldExpiresMs, ...version }, audit);
  if (outcome === 'not_allowed') throw noLongerAllowed();
  if (outcome === 'version_conflict') throw versionConflict('key');
  if (outcome === 'no_key') throw unknownKey(input.key);
  if (outcome === 'revoked') throw isRevoked();
  await tellDirectory(services);
  return { ...keyView(await keyNamed(services, input.key), services.clock.nowMs()), secret: secret.reveal() };
}

/** Unlike a revoked key, a disabled one can be enabled again. Doing either twice changes nothing. */
export async function disableKey(
  services: OperatorServices,
  input: z.output<typeof inputs.keyChoice>,
): Promise<KeyView> {
  const key = await keyNamed(services, input.key);
  if (key.disabledMs !== null) return keyView(key, services.clock.nowMs());
  return changeKey(services, input.key, { disabledMs: services.clock.nowMs() }, { action: 'key.disable' });
}

export async function enableKey(
  services: OperatorServices,
  input: z.output<typeof inputs.keyChoice>,
): Promise<KeyView> {
  const key = await keyNamed(services, input.key);
  if (key.revokedMs !== null) throw isRevoked();
  if (key.disabledMs === null) return keyView(key, services.clock.nowMs());
  const enabled = await changeKey(services, input.key, { disabledMs: null }, { action: 'key.enable' });
  // Somebody may have revoked it since it was read.
  if (enabled.revoked_at !== null) throw isRevoked();
  return enabled;
}

function isRevoked(): OperatorError {
  return new OperatorError('refused', 'This key is revoked for good. Create another.', 'tollgate keys mint');
}

/** Revoking a key again changes nothing: the first time stands. It ends jobs that still wait if the first time was interrupted. */
export async function revokeKey(
  services: OperatorServices,
  input: z.output<typeof inputs.keyChoice>,
): Promise<KeyView> {
  const key = await keyNamed(services, input.key);
  const nowMs = services.clock.nowMs();
  const revoked =
    key.revokedMs === null
      ? await changeKey(services, input.key, { revokedMs: nowMs }, { action: 'key.revoke' })
      : keyView(key, nowMs);
  await cancelJobsOf(services, key);
  return revoked;
}

/** Jobs that wait would be cancelled when their time comes; until then they would keep money reserved. */
async function cancelJobsOf(services: OperatorServices, { id: keyId, accountId }: KeyRow): Promise<void> {
  const error = { errorCode: 'key_revoked', errorMessage: 'The key that submitted the job was revoked.' };
  let found: number;
  do found = await cancelWaitingJobs(services, { accountId, keyId }, error);
  while (found >= LIMITS.storePageRowsMax);
}

async function changeKey(
  services: OperatorServices,
  idText: string,
  change: KeyChange,
  { action = 'key.change', version = null }: { action?: string; version?: bigint | null } = {},
): Promise<KeyView> {
  const key = await keyNamed(services, idText);
  const nowMs = services.clock.nowMs();
  const changes = differences(keyView(key, nowMs), keyView(changedKey(key, change), nowMs));
  const audit = auditRow(services, { action, subject: idText, accountId: key.accountId, ...changes });
  const changed = await services.store.updateKey(key.id, change, audit, version);
  if (changed === 'not_allowed') throw noLongerAllowed();
  if (changed === 'version_conflict') throw versionConflict('key');
  if (changed === null) throw unknownKey(idText);
  await tellDirectory(services);
  return keyView(changed, services.clock.nowMs());
}

/** The key as it will be, for the audit. */
function changedKey(key: KeyRow, { allow = [], deny = [], ...change }: KeyChange): KeyRow {
  const granted = [...new Set([...key.permissions, ...allow])];
  return { ...key, ...change, permissions: granted.filter((permission) => !deny.includes(permission)) };
}

/** The change is durable and will be polled anyway; refreshing this process at once may fail without harm. */
async function tellDirectory({ directory }: OperatorServices): Promise<void> {
  await directory?.refresh().catch(() => {});
}

/** Replaces names by catalog ids. Unknown names are kept and reported, because a model may be added later. */
function resolveModels(
  { catalog }: OperatorServices,
  names: readonly string[] | null,
): { ids: readonly string[] | null; unknown: readonly string[] } {
  if (names === null) return { ids: null, unknown: [] };
  const unknown: string[] = [];
  const ids = names.map((name) => {
    const resolution = catalog().resolve(name);
    if ('model' in resolution) return resolution.model.id;
    unknown.push(name);
    return name;
  });
  return { ids: [...new Set(ids)], unknown };
}
