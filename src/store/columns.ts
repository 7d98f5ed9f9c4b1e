import { parseJson } from '../json/json.ts';
import { ACCOUNT_KIND, ACCOUNT_STATUS, CAP_WINDOW, ON_UNSUPPORTED_CODE, permissionsOf } from './codes.ts';
import type { ReplacedSecret } from './key-secrets.ts';
import type { AcceptedLoss, Account, CapWindow, KeyChange, KeyRow, OwnerTerms, ProviderKeyRow } from './store.ts';

/** Rows as both engines return them, with every integer a bigint so that none is ever rounded. */
type Cell = bigint | string | null;

export interface AccountColumns {
  readonly id: bigint;
  readonly name: string;
  readonly kind: bigint;
  readonly created_ms: bigint;
  readonly balance: bigint;
  readonly held: bigint;
  readonly reserved: bigint;
  readonly spent: bigint;
  readonly loss_hour: bigint;
  readonly lost: bigint;
  readonly status: bigint;
  readonly version: bigint;
}

export function accountOf(row: AccountColumns): Account {
  return {
    id: row.id,
    name: row.name,
    kind: ACCOUNT_KIND.word(row.kind),
    createdMs: Number(row.created_ms),
    balanceNanousd: row.balance,
    heldNanousd: row.held,
    reservedNanousd: row.reserved,
    spentNanousd: row.spent,
    lossHour: Number(row.loss_hour),
    lostNanousd: row.lost,
    status: ACCOUNT_STATUS.word(row.status),
    version: row.version,
  };
}

/** The columns to change, for the members that are present; permissions are changed bit by bit instead. */
export function keyCells(
  change: Omit<KeyChange, 'allow' | 'deny' | 'revokedMs'> & { readonly revokedMs?: number | null },
): Record<string, Cell> {
  const cells: Record<string, Cell> = {};
  if (change.name !== undefined) cells.name = change.name;
  if (change.capNanousd !== undefined) cells.cap = change.capNanousd;
  if (change.capWindow !== undefined) cells.cap_window = CAP_WINDOW.of[change.capWindow];
  if (change.expiresMs !== undefined) cells.expires_ms = msCell(change.expiresMs);
  if (change.models !== undefined) cells.models = change.models === null ? null : JSON.stringify(change.models);
  if (change.onUnsupported !== undefined) cells.on_unsupported = ON_UNSUPPORTED_CODE.of[change.onUnsupported];
  if (change.note !== undefined) cells.note = change.note;
  if (change.maxCostNanousd !== undefined) cells.max_cost = change.maxCostNanousd;
  if (change.ownerTerms !== undefined) cells.owner_terms = termsCell(change.ownerTerms);
  if (change.revokedMs !== undefined) cells.revoked_ms = msCell(change.revokedMs);
  if (change.disabledMs !== undefined) cells.disabled_ms = msCell(change.disabledMs);
  return cells;
}

function msCell(ms: number | null): bigint | null {
  return ms === null ? null : BigInt(ms);
}

/** As JSON, with amounts as text; null if nothing is fixed. */
function termsCell({ capNanousd, capWindow, maxCostNanousd, models, expiresMs }: OwnerTerms): string | null {
  const cap = capNanousd === undefined ? {} : { cap: String(capNanousd), cap_window: capWindow };
  const maxCost = maxCostNanousd === undefined ? {} : { max_cost: String(maxCostNanousd) };
  const terms = { ...cap, ...maxCost, models, expires_ms: expiresMs };
  const text = JSON.stringify(terms);
  return text === '{}' ? null : text;
}

function termsOf(cell: string | null): OwnerTerms {
  if (cell === null) return {};
  const terms = parseJson(cell) as {
    readonly cap?: string;
    readonly cap_window?: CapWindow;
    readonly max_cost?: string;
    readonly models?: readonly string[];
    readonly expires_ms?: number;
  };
  return {
    ...(terms.cap !== undefined && { capNanousd: BigInt(terms.cap), capWindow: terms.cap_window! }),
    ...(terms.max_cost !== undefined && { maxCostNanousd: BigInt(terms.max_cost) }),
    ...(terms.models !== undefined && { models: terms.models }),
    ...(terms.expires_ms !== undefined && { expiresMs: terms.expires_ms }),
  };
}

/** The rows of keys; a condition on a column of `api_key` follows. */
export const KEY_SELECT = `SELECT api_key.*, key_secret.sha256 AS old_sha256, key_secret.expires_ms AS old_expires_ms
  FROM api_key LEFT JOIN key_secret ON key_secret.key_id = api_key.id`;

export interface KeyColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly person_id: bigint | null;
  readonly name: string;
  readonly sha256: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly cap: bigint | null;
  readonly cap_window: bigint;
  readonly expires_ms: bigint | null;
  readonly models: string | null;
  readonly permissions: bigint;
  readonly on_unsupported: bigint;
  readonly created_ms: bigint;
  readonly revoked_ms: bigint | null;
  readonly disabled_ms: bigint | null;
  readonly person_disabled_ms: bigint | null;
  readonly note: string | null;
  readonly max_cost: bigint | null;
  readonly used_ms: bigint | null;
  readonly owner_terms: string | null;
  readonly old_sha256: string | null;
  readonly old_expires_ms: bigint | null;
  readonly version: bigint;
}

export function keyOf(row: KeyColumns): KeyRow {
  return {
    id: row.id,
    accountId: row.account_id,
    personId: row.person_id,
    name: row.name,
    sha256Hex: row.sha256,
    prefix: row.prefix,
    lastFour: row.last_four,
    capNanousd: row.cap,
    capWindow: CAP_WINDOW.word(row.cap_window),
    expiresMs: msOf(row.expires_ms),
    models: row.models === null ? null : (parseJson(row.models) as string[]),
    permissions: permissionsOf(row.permissions),
    onUnsupported: ON_UNSUPPORTED_CODE.word(row.on_unsupported),
    createdMs: Number(row.created_ms),
    revokedMs: msOf(row.revoked_ms),
    disabledMs: msOf(row.disabled_ms),
    personDisabledMs: msOf(row.person_disabled_ms),
    note: row.note,
    maxCostNanousd: row.max_cost,
    usedMs: msOf(row.used_ms),
    ownerTerms: termsOf(row.owner_terms),
    replaced: replacedOf(row),
    version: row.version,
  };
}

function replacedOf({ old_sha256: sha256Hex, old_expires_ms: expiresMs }: KeyColumns): ReplacedSecret | null {
  return sha256Hex === null || expiresMs === null ? null : { sha256Hex, expiresMs: Number(expiresMs) };
}

function msOf(cell: bigint | null): number | null {
  return cell === null ? null : Number(cell);
}

export interface ProviderKeyColumns {
  readonly id: bigint;
  readonly account_id: bigint;
  readonly provider: string;
  readonly base_url: string;
  readonly last_four: string;
  readonly sealed: Uint8Array;
  readonly created_ms: bigint;
  readonly verified_ms: bigint;
  readonly rejected_ms: bigint | null;
  readonly used_ms: bigint | null;
}

export function providerKeyOf(row: ProviderKeyColumns): ProviderKeyRow {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    baseUrl: row.base_url,
    lastFour: row.last_four,
    sealed: row.sealed,
    createdMs: Number(row.created_ms),
    verifiedMs: Number(row.verified_ms),
    rejectedMs: msOf(row.rejected_ms),
    usedMs: msOf(row.used_ms),
  };
}

export interface AcceptedLossColumns {
  readonly accepted_ms: bigint;
  readonly receipts: bigint;
  readonly spent: bigint;
}

export function acceptedLossOf(row: AcceptedLossColumns): AcceptedLoss {
  return { acceptedMs: Number(row.accepted_ms), receipts: row.receipts, spentNanousd: row.spent };
}
