import { setTimeout as pause } from 'node:timers/promises';
import { ACCOUNT_PREFIX } from '../../src/canonical/id-prefixes.ts';
import type { Receipt } from '../../src/canonical/receipt.ts';
import { formatId } from '../../src/kit/ids.ts';
import { LIMITS } from '../../src/limits.ts';
import { judgeCall, judgeReceipts, type ReceiptRow } from '../kill/audit.ts';
import type { ClientCall } from '../kill/load.ts';
import type { Replica } from './replica.ts';
import type { ReplicaKey, World } from './world.ts';

/** The ledger's view of the calls of one cycle, and everything in it that is wrong. */
export interface Audit {
  readonly voided: ReadonlySet<string>;
  /** Settled in the ledger although the client never saw the end. */
  readonly settledUnseen: ReadonlySet<string>;
  readonly faults: readonly string[];
}

/** By then dead processes have been reaped, even on a busy machine. */
const HOLDS_MS_MAX = LIMITS.instanceDeadMs + 3 * LIMITS.instanceHeartbeatMs + 15_000;
const PAGE_ROWS = 1000;
const PAGES_MAX = 100;

/** Compares the ledger with what clients saw; remembers what it has read, so that each receipt is counted once. */
export class Auditor {
  readonly #world: World;
  readonly #keys: readonly ReplicaKey[];
  readonly #creditNanousd: bigint;
  #newestId = 0n;
  readonly #spentNanousd = new Map<bigint, bigint>();

  constructor(world: World, keys: readonly ReplicaKey[], creditNanousd: bigint) {
    this.#world = world;
    this.#keys = keys;
    this.#creditNanousd = creditNanousd;
  }

  /** Calls `meanwhile` again and again until no hold is open. */
  async audit(calls: readonly ClientCall[], reader: Replica, meanwhile: () => Promise<void>): Promise<Audit> {
    const late = await this.#holdsEnd(meanwhile);
    const receipts = await this.#newReceipts();
    const rows = receipts.map(rowOf);
    const byLabel = new Map(rows.map((row) => [row.labels.user ?? '', row]));
    const { violations } = await this.#world.store.verify();
    const seen = new Set(calls.filter(({ costNanousd }) => costNanousd !== null).map(({ label }) => label));
    const labelsOf = (state: ReceiptRow['status']) =>
      rows.filter(({ status }) => status === state).map(({ labels }) => labels.user ?? '');
    return {
      voided: new Set(labelsOf('voided')),
      settledUnseen: new Set(labelsOf('settled').filter((label) => !seen.has(label))),
      faults: [
        ...late,
        ...violations,
        ...judgeReceipts(rows, byLabel, calls),
        ...calls.flatMap((call) =>
          wasGivenBack(call, byLabel.get(call.label)) ? [] : judgeCall(call, byLabel.get(call.label)),
        ),
        ...(await this.#judgeBalances(receipts)),
        ...(await this.#readBack(calls, reader)),
      ],
    };
  }

  async #holdsEnd(meanwhile: () => Promise<void>): Promise<string[]> {
    const deadlineMs = Date.now() + HOLDS_MS_MAX;
    let open = await this.#world.openHolds();
    while (open > 0 && Date.now() < deadlineMs) {
      await meanwhile();
      // The replicas need the cores more than this query does.
      await pause(20);
      open = await this.#world.openHolds();
    }
    return open === 0 ? [] : [`${open} holds were still open after ${HOLDS_MS_MAX} ms`];
  }

  async #newReceipts(): Promise<Receipt[]> {
    const found: Receipt[] = [];
    const accounts = new Set(this.#keys.map(({ accountId }) => accountId));
    let after: bigint | null = null;
    for (let page = 0; page < PAGES_MAX; page++) {
      const filter = { accountId: null, keyId: null, sinceMs: null };
      const rows: Receipt[] = await this.#world.store.listReceipts(filter, { limit: PAGE_ROWS, after });
      const fresh = rows.filter(({ id }) => id > this.#newestId);
      found.push(...fresh.filter(({ accountId }) => accounts.has(accountId)));
      if (fresh.length < PAGE_ROWS) break;
      after = fresh.at(-1)!.id;
    }
    this.#newestId = found[0]?.id ?? this.#newestId;
    return found;
  }

  /** Each account has its credit less the sum of its receipts, and nothing is held. */
  async #judgeBalances(receipts: readonly Receipt[]): Promise<string[]> {
    for (const { accountId, costNanousd } of receipts) {
      this.#spentNanousd.set(accountId, (this.#spentNanousd.get(accountId) ?? 0n) + costNanousd);
    }
    const faults: string[] = [];
    for (const { accountId } of this.#keys) {
      const { balanceNanousd, heldNanousd } = (await this.#world.store.findAccount(accountId))!;
      const mustBe = this.#creditNanousd - (this.#spentNanousd.get(accountId) ?? 0n);
      if (balanceNanousd === mustBe && heldNanousd === 0n) continue;
      faults.push(`${accountId} has ${balanceNanousd}, of it ${heldNanousd} held, but its receipts leave ${mustBe}`);
    }
    return faults;
  }

  /** Callers read their answered calls back from another replica than the one that answered. */
  async #readBack(calls: readonly ClientCall[], reader: Replica): Promise<string[]> {
    const answered = calls.filter(({ costNanousd }) => costNanousd !== null).slice(0, READ_BACK_MAX);
    const read = answered.map(async ({ label, key, requestId, costNanousd }) => {
      const headers = { authorization: `Bearer ${key.secret}` };
      const response = await fetch(`${reader.url}/v1/receipts/${requestId}`, { headers });
      const receipt = (await response.json()) as ReceiptRow;
      const isSame = receipt.id === requestId && BigInt(receipt.cost_nanousd ?? -1) === costNanousd;
      return isSame ? [] : [`${label} reads back as ${JSON.stringify(receipt)}, not ${costNanousd}`];
    });
    return (await Promise.all(read)).flat();
  }
}

const READ_BACK_MAX = 5;

/** The replica was declared dead before it could settle. Its caller was told that the call is free, and it is. */
export function wasGivenBack({ requestId, costNanousd }: ClientCall, receipt: ReceiptRow | undefined): boolean {
  return receipt?.id === requestId && receipt.status === 'voided' && costNanousd === 0n;
}

export function rowOf({ id, state, costNanousd, accountId, labels }: Receipt): ReceiptRow {
  return {
    id: formatId('req_', id),
    status: state,
    cost_nanousd: Number(costNanousd),
    account: formatId(ACCOUNT_PREFIX, accountId),
    labels: labels ?? {},
  };
}
