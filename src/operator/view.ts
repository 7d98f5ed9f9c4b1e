import { describeKey } from '../accounts/keys.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type ModelEntry, modelEntry } from '../catalog/entry.ts';
import type { CatalogModel } from '../catalog/model.ts';
import { formatId } from '../kit/ids.ts';
import { secondsOrNull, toSeconds } from '../kit/unix-seconds.ts';
import type { VerifyReport } from '../ledger/ledger.ts';
import type { KeySpending } from '../store/key-uses.ts';
import { monthName } from '../store/month-tree.ts';
import type {
  AcceptedLoss,
  Account,
  AccountKind,
  AccountStatus,
  CapWindow,
  KeyPermission,
  KeyRow,
  OnUnsupported,
  StoreHealth,
} from '../store/store.ts';

export interface AccountView {
  readonly object: 'account';
  readonly id: string;
  readonly name: string;
  readonly kind: AccountKind;
  readonly status: AccountStatus;
  readonly created: number;
  readonly balance_nanousd: bigint;
  readonly held_nanousd: bigint;
  /** For jobs that wait to run. */
  readonly reserved_nanousd: bigint;
  readonly available_nanousd: bigint;
  readonly spent_nanousd: bigint;
  /** Increased by every change of the name or the status. */
  readonly version: number;
}

export function accountView(account: Account): AccountView {
  return {
    object: 'account',
    id: formatId(ACCOUNT_PREFIX, account.id),
    name: account.name,
    kind: account.kind,
    status: account.status,
    created: toSeconds(account.createdMs),
    balance_nanousd: account.balanceNanousd,
    held_nanousd: account.heldNanousd,
    reserved_nanousd: account.reservedNanousd,
    available_nanousd: account.balanceNanousd - account.heldNanousd - account.reservedNanousd,
    spent_nanousd: account.spentNanousd,
    version: Number(account.version),
  };
}

export interface CreditView {
  readonly object: 'credit';
  readonly account: string;
  readonly amount_nanousd: bigint;
  readonly reference: string;
  /** The reference was credited before, so nothing was changed now. */
  readonly repeated: boolean;
  readonly balance_nanousd: bigint;
}

export interface KeyView {
  readonly object: 'key';
  readonly id: string;
  readonly account: string;
  /** Whose key it is; null if it belongs to no person. */
  readonly person: string | null;
  readonly name: string;
  /** The first and last characters of the secret. */
  readonly hint: string;
  readonly status: 'active' | 'disabled' | 'expired' | 'revoked';
  readonly spend_cap_nanousd: bigint | null;
  readonly window: CapWindow;
  readonly expires_at: number | null;
  readonly models: readonly string[] | null;
  /** Every key may call models. */
  readonly permissions: readonly ('calls' | KeyPermission)[];
  readonly on_unsupported: OnUnsupported;
  readonly note: string | null;
  /** The most that one call may cost. */
  readonly max_cost_nanousd: bigint | null;
  /** To the minute; null if the key was never used. */
  readonly last_used_at: number | null;
  readonly created: number;
  readonly revoked_at: number | null;
  /** When the key itself was disabled. */
  readonly disabled_at: number | null;
  /** When the key's person was disabled, or ceased to be an owner or member of the account. */
  readonly person_disabled_at: number | null;
  /** Until when the previous secret works; null if there is none that does. */
  readonly old_secret_expires_at: number | null;
  /** Increased by every change. */
  readonly version: number;
}

/** What a key has spent in its current window. */
interface KeySpendingView {
  readonly spent_nanousd: bigint;
  readonly held_nanousd: bigint;
  readonly reserved_nanousd: bigint;
  /** What is left of the cap; null without one. */
  readonly remaining_nanousd: bigint | null;
  /** Null for a cap that never resets. */
  readonly resets_at: number | null;
}

export type ShownKeyView = KeyView & KeySpendingView;

/** A cap may be set below what was already spent. */
export function keySpendingView({ capNanousd }: KeyRow, spending: KeySpending | undefined): KeySpendingView {
  const { spentNanousd = 0n, heldNanousd = 0n, reservedNanousd = 0n, resetsMs = null } = spending ?? {};
  const left = capNanousd === null ? null : capNanousd - spentNanousd - heldNanousd - reservedNanousd;
  return {
    spent_nanousd: spentNanousd,
    held_nanousd: heldNanousd,
    reserved_nanousd: reservedNanousd,
    remaining_nanousd: left !== null && left < 0n ? 0n : left,
    resets_at: secondsOrNull(resetsMs),
  };
}

export function keyView(key: KeyRow, nowMs: number): KeyView {
  return {
    object: 'key',
    id: formatId(KEY_PREFIX, key.id),
    account: formatId(ACCOUNT_PREFIX, key.accountId),
    person: key.personId === null ? null : formatId(PERSON_PREFIX, key.personId),
    name: key.name,
    hint: describeKey(key),
    status: keyStatus(key, nowMs),
    spend_cap_nanousd: key.capNanousd,
    window: key.capWindow,
    expires_at: secondsOrNull(key.expiresMs),
    models: key.models,
    permissions: ['calls', ...key.permissions],
    on_unsupported: key.onUnsupported,
    note: key.note,
    max_cost_nanousd: key.maxCostNanousd,
    last_used_at: secondsOrNull(key.usedMs),
    created: toSeconds(key.createdMs),
    revoked_at: secondsOrNull(key.revokedMs),
    disabled_at: secondsOrNull(key.disabledMs),
    person_disabled_at: secondsOrNull(key.personDisabledMs),
    old_secret_expires_at: oldSecretExpiry(key, nowMs),
    version: Number(key.version),
  };
}

function oldSecretExpiry({ replaced, revokedMs }: KeyRow, nowMs: number): number | null {
  if (replaced === null || revokedMs !== null || replaced.expiresMs <= nowMs) return null;
  return toSeconds(replaced.expiresMs);
}

function keyStatus(key: KeyRow, nowMs: number): KeyView['status'] {
  if (key.revokedMs !== null) return 'revoked';
  if (key.expiresMs !== null && key.expiresMs <= nowMs) return 'expired';
  return key.disabledMs === null && key.personDisabledMs === null ? 'active' : 'disabled';
}

/** A model as the operator sees it, with the hosts that serve it. */
export type ModelView = ModelEntry & { readonly hosts: readonly string[] };

function modelView(model: CatalogModel): ModelView {
  return { ...modelEntry(model), hosts: model.hosts.map(({ host }) => host) };
}

export type ModelListView = ListView<ModelView> & { readonly price_version: string };

export function modelListView(catalog: Pick<Catalog, 'list' | 'priceVersion'>): ModelListView {
  return { object: 'list', data: catalog.list().map(modelView), next: null, price_version: catalog.priceVersion };
}

export interface VerifyView {
  readonly object: 'verification';
  readonly ok: boolean;
  readonly accounts: number;
  readonly keys: number;
  readonly receipts: number;
  readonly credits: number;
  readonly refunds: number;
  readonly open_holds: number;
  readonly loss_nanousd: bigint;
  /** Closed months that were recomputed from their receipts, and how many receipts that were. */
  readonly closed_months: number;
  readonly closed_receipts: number;
  /** The first month that was recomputed, like `2026-05`; null if all were. */
  readonly since: string | null;
  /** Receipts that were deleted because of their age. */
  readonly not_kept: number;
  /** Closed receipts that are in no hash tree yet. */
  readonly without_tree: number;
  readonly violations: readonly string[];
}

export function verifyView(report: VerifyReport): VerifyView {
  return {
    object: 'verification',
    ok: report.violations.length === 0,
    accounts: report.accounts,
    keys: report.keys,
    receipts: report.receipts,
    credits: report.credits,
    refunds: report.refunds,
    open_holds: report.openHolds,
    loss_nanousd: report.lossNanousd,
    closed_months: report.closedMonths,
    closed_receipts: report.closedReceipts,
    since: report.sinceMonthMs === null ? null : monthName(report.sinceMonthMs),
    not_kept: report.notKept,
    without_tree: report.withoutTree,
    violations: report.violations,
  };
}

interface AcceptedLossView {
  /** Seconds since 1970. */
  readonly accepted: number;
  readonly receipts: number;
  readonly spent_nanousd: bigint;
}

/** The whole ledger, with the losses that it continues without. */
export type LedgerView = VerifyView & { readonly accepted_losses: readonly AcceptedLossView[] };

export function acceptedLossView({ acceptedMs, receipts, spentNanousd }: AcceptedLoss): AcceptedLossView {
  return { accepted: toSeconds(acceptedMs), receipts: Number(receipts), spent_nanousd: spentNanousd };
}

/** What a running server reports about itself. */
export interface ServerFacts {
  readonly url: string;
  readonly pid: number;
  readonly hosted: boolean;
  readonly startedMs: number;
}

export interface StatusView {
  readonly object: 'status';
  readonly server: { url: string; pid: number; hosted: boolean; started: number } | null;
  readonly store: { ok: boolean; reason: string | null; may_admit: boolean };
  /** How far the clock is behind the ledger's last call; 0 if it is not. */
  readonly clock_behind_ms: number;
  readonly accepted_losses: readonly AcceptedLossView[];
  readonly models: number;
  readonly price_version: string;
}

export function statusView(
  server: ServerFacts | null,
  health: StoreHealth,
  losses: readonly AcceptedLoss[],
  prices: { models: number; version: string },
  clockBehindMs: number,
): StatusView {
  return {
    object: 'status',
    server: server && { url: server.url, pid: server.pid, hosted: server.hosted, started: toSeconds(server.startedMs) },
    store: { ok: health.ok, reason: health.reason, may_admit: health.mayAdmit },
    clock_behind_ms: clockBehindMs,
    accepted_losses: losses.map(acceptedLossView),
    models: prices.models,
    price_version: prices.version,
  };
}

export interface ListView<Row> {
  readonly object: 'list';
  readonly data: readonly Row[];
  /** Send it as `after` for the next rows; null at the end. */
  readonly next: string | null;
}

/** A full page may be followed by more rows; a shorter one is the last. */
export function listView<Row extends { readonly id?: unknown }>(data: readonly Row[], limit: number): ListView<Row> {
  const last = data.length === limit ? data.at(-1)?.id : undefined;
  return { object: 'list', data, next: typeof last === 'string' ? last : null };
}
