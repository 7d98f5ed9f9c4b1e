import type { ClientCall } from './load.ts';
import type { Key } from './world.ts';

/** The ledger's view of one gateway process, and everything in it that is wrong. */
interface Audit {
  /** Holds that were open at the kill and are void now: the kill happened between hold and settlement. */
  readonly voided: number;
  /** Settled in the ledger although the client never saw the end: the kill happened between the settlement and the last byte. */
  readonly settledUnseen: number;
  readonly faults: readonly string[];
}

export interface ReceiptRow {
  readonly id: string;
  readonly status: 'open' | 'settled' | 'voided';
  readonly cost_nanousd: number | null;
  readonly account: string;
  readonly labels: { readonly user?: string };
}

/** What an audit needs to know: the accounts, and the gateway that is asked about them. */
export interface AuditedWorld {
  readonly gateway: { readonly url: string; ask(verb: string, input?: object): Promise<unknown> };
  readonly keys: readonly Key[];
  readonly creditsNanousd: ReadonlyMap<string, bigint>;
}

interface BalanceRow {
  readonly balance_nanousd: number;
  readonly held_nanousd: number;
  readonly key: { readonly spend_cap_nanousd: number | null; readonly spent_nanousd: number };
}

const PAGE_ROWS = 1000;
const PAGES_MAX = 1000;

/** Checks the ledger after every restart; remembers what it has seen, so that each receipt is counted once. */
export class Auditor {
  readonly #world: AuditedWorld;
  /** Ids are ordered by time: higher ones are new since the last audit. */
  #newestId = '';
  readonly #spentNanousd = new Map<string, bigint>();

  constructor(world: AuditedWorld) {
    this.#world = world;
  }

  async audit(calls: readonly ClientCall[]): Promise<Audit> {
    const receipts = await this.#newReceipts();
    const byLabel = new Map(receipts.map((receipt) => [receipt.labels.user ?? '', receipt]));
    const faults = [
      ...(await this.#verify()),
      ...judgeReceipts(receipts, byLabel, calls),
      ...calls.flatMap((call) => judgeCall(call, byLabel.get(call.label))),
      ...(await this.#judgeBalances(receipts)),
      ...(await this.#readBack(calls)),
    ];
    const seen = new Set(calls.filter(({ costNanousd }) => costNanousd !== null).map(({ label }) => label));
    return {
      voided: receipts.filter(({ status }) => status === 'voided').length,
      settledUnseen: receipts.filter(({ status, labels }) => status === 'settled' && !seen.has(labels.user!)).length,
      faults,
    };
  }

  async #verify(): Promise<string[]> {
    const report = (await this.#world.gateway.ask('ledger.verify')) as { open_holds: number; violations: string[] };
    return report.open_holds === 0 ? report.violations : [...report.violations, `${report.open_holds} holds are open`];
  }

  async #newReceipts(): Promise<ReceiptRow[]> {
    const found: ReceiptRow[] = [];
    let after: string | null = null;
    for (let page = 0; page < PAGES_MAX; page++) {
      const list = (await this.#world.gateway.ask('receipts.list', { limit: PAGE_ROWS, after })) as {
        data: ReceiptRow[];
        next: string | null;
      };
      const fresh = list.data.filter(({ id }) => id > this.#newestId);
      found.push(...fresh);
      after = list.next;
      if (after === null || fresh.length < list.data.length) break;
    }
    this.#newestId = found[0]?.id ?? this.#newestId;
    return found;
  }

  /** Each account has its credit less the sum of its receipts, nothing is held or overspent, and no cap is exceeded. */
  async #judgeBalances(receipts: readonly ReceiptRow[]): Promise<string[]> {
    for (const { account, cost_nanousd } of receipts) {
      this.#spentNanousd.set(account, (this.#spentNanousd.get(account) ?? 0n) + BigInt(cost_nanousd ?? 0));
    }
    const faults: string[] = [];
    for (const key of this.#world.keys) {
      const response = await fetch(`${this.#world.gateway.url}/v1/balance`, { headers: bearer(key.secret) });
      const balance = (await response.json()) as BalanceRow;
      const mustBe = this.#world.creditsNanousd.get(key.account)! - (this.#spentNanousd.get(key.account) ?? 0n);
      if (BigInt(balance.balance_nanousd) !== mustBe || balance.held_nanousd !== 0) {
        faults.push(`${key.account} has ${JSON.stringify(balance)}, but its receipts leave ${mustBe}`);
      }
      const { spend_cap_nanousd: cap, spent_nanousd: spent } = balance.key;
      if (mustBe < 0n) faults.push(`${key.account} is overspent: ${mustBe}`);
      if (cap !== null && spent > cap) faults.push(`${key.id} has spent ${spent}, and its cap is ${cap}`);
    }
    return faults;
  }

  /** Reads one answered call back as its caller would; the listing covers the others. */
  async #readBack(calls: readonly ClientCall[]): Promise<string[]> {
    const call = calls.find(({ costNanousd }) => costNanousd !== null);
    if (call === undefined) return [];
    const address = `${this.#world.gateway.url}/v1/receipts/${call.requestId}`;
    const receipt = (await (await fetch(address, { headers: bearer(call.key.secret) })).json()) as ReceiptRow;
    const isSame = receipt.id === call.requestId && BigInt(receipt.cost_nanousd ?? -1) === call.costNanousd;
    return isSame ? [] : [`${call.label} reads back as ${JSON.stringify(receipt)}, not ${call.costNanousd}`];
  }
}

function bearer(secret: string): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

/** Every receipt belongs to exactly one call, none is open, and voided ones cost nothing. */
export function judgeReceipts(
  receipts: readonly ReceiptRow[],
  byLabel: ReadonlyMap<string, ReceiptRow>,
  calls: readonly ClientCall[],
): string[] {
  const labels = new Set(calls.map(({ label }) => label));
  const faults = receipts.flatMap(({ id, status, cost_nanousd, labels: { user = '' } }) => {
    if (!labels.has(user)) return [`${id} is the receipt of ${user}, which nobody called in this life`];
    if (status === 'open') return [`${id} is still open`];
    return status === 'voided' && cost_nanousd !== 0 ? [`${id} is void and yet costs ${cost_nanousd}`] : [];
  });
  if (byLabel.size < receipts.length) faults.push(`${receipts.length - byLabel.size} calls have two receipts`);
  if (new Set(receipts.map(({ id }) => id)).size < receipts.length) faults.push('A receipt is listed twice');
  return faults;
}

/** A client that saw the last byte has a settled receipt with exactly the cost it was told. */
export function judgeCall({ label, requestId, costNanousd }: ClientCall, receipt: ReceiptRow | undefined): string[] {
  if (costNanousd === null) return [];
  if (receipt === undefined) return [`${label} (${requestId}) saw its last byte, but has no receipt`];
  const { id, status, cost_nanousd } = receipt;
  if (id === requestId && status === 'settled' && BigInt(cost_nanousd ?? -1) === costNanousd) return [];
  return [`${label} (${requestId}) was told ${costNanousd}, but its receipt ${id} is ${status} at ${cost_nanousd}`];
}
