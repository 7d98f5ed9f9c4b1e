import type { Settlement } from '../src/canonical/receipt.ts';
import type { ManualClock } from '../src/kit/clock.ts';
import type {
  CreditOperation,
  HoldOperation,
  NewAccount,
  NewKey,
  Page,
  ReceiptFilter,
  SettleOperation,
  Store,
} from '../src/store/store.ts';

/** A store under test; `reopen` opens it again as after a restart of the process. */
export interface StoreUnderTest {
  readonly store: Store;
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
}

export type OpenStore = (clock: ManualClock) => Promise<StoreUnderTest>;

/** 2026-03-15 12:00 UTC, a Sunday in the middle of a month. */
export const NOON_MS = Date.UTC(2026, 2, 15, 12);

export const FIRST_PAGE: Page = { limit: 100, after: null };
export const ALL_RECEIPTS: ReceiptFilter = { accountId: null, keyId: null, sinceMs: null };

export function anAccount(id: bigint, over: Partial<NewAccount> = {}): NewAccount {
  return { id, name: `account-${id}`, kind: 'prepaid', createdMs: NOON_MS, ...over };
}

export function aKey(id: bigint, accountId: bigint, over: Partial<NewKey> = {}): NewKey {
  return {
    id,
    accountId,
    personId: null,
    name: `key-${id}`,
    sha256Hex: id.toString(16).padStart(64, '0'),
    prefix: 'tg_live_abcd',
    lastFour: 'wxyz',
    capNanousd: null,
    capWindow: 'lifetime',
    expiresMs: null,
    models: null,
    permissions: [],
    onUnsupported: 'refuse',
    createdMs: NOON_MS,
    ...over,
  };
}

/** A hold of account 1 without a key, in the first epoch, with the first price list. */
export function aHold(id: bigint, amountNanousd: bigint, over: Partial<HoldOperation> = {}): HoldOperation {
  return {
    kind: 'hold',
    id,
    epoch: 1n,
    accountId: 1n,
    keyId: null,
    amountNanousd,
    ceilingNanousd: null,
    route: '/v1/chat/completions',
    stream: false,
    requestedModel: 'vendor/model',
    effectiveModel: 'model',
    priceId: 1,
    createdMs: NOON_MS,
    labels: null,
    idempotency: null,
    ...over,
  };
}

export function aSettle(
  id: bigint,
  costNanousd: bigint,
  over: Partial<Settlement> = {},
  kept: Uint8Array | null = null,
): SettleOperation {
  return { kind: 'settle', id, endedMs: NOON_MS + 500, settlement: { ...SETTLEMENT, costNanousd, ...over }, kept };
}

const SETTLEMENT: Settlement = {
  ended: 'complete',
  httpStatus: 200,
  usageSource: 'reported',
  usage: null,
  components: null,
  costNanousd: 0n,
  host: 'host-a',
  attempts: 1,
  tries: null,
  lossNanousd: 0n,
  lossReason: null,
  hangupCharged: null,
  adjusted: null,
  firstByteMs: null,
};

export function aCredit(id: bigint, amountNanousd: bigint, over: Partial<CreditOperation> = {}): CreditOperation {
  return {
    kind: 'credit',
    id,
    accountId: 1n,
    amountNanousd,
    reference: `reference-${id}`,
    note: null,
    createdMs: NOON_MS,
    ...over,
  };
}

/** Creates account 1 and a price list, and registers the first instance. */
export async function prepare(store: Store, account: Partial<NewAccount> = {}): Promise<void> {
  await store.createAccount(anAccount(1n, account));
  await store.registerPrices('prices-1', '{"model":1}');
  await store.beginInstance();
}
