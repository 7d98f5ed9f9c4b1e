import type { ManualClock } from '../../src/kit/clock.ts';
import { LIMITS } from '../../src/limits.ts';
import type { Store } from '../../src/store/store.ts';
import type { UsageQuery } from '../../src/store/usage-report.ts';
import { Random } from '../../test/random.ts';
import { differenceOf, expectedGroups, reportedGroups } from './expected.ts';
import { anyQuery } from './queries.ts';
import { makeReceipts, type ReceiptTable, type ReceiptTerms, refundSome, storeReceipts } from './receipts.ts';
import { makeWorld, openWorld, type World } from './world.ts';

interface UsageTerms extends ReceiptTerms {
  readonly store: Store;
  /** At the beginning of the period of the receipts. */
  readonly clock: ManualClock;
  readonly queries: number;
  readonly refunds: number;
  readonly seed: number;
  readonly onStep?: (words: string) => void;
}

/** A ledger with receipts, and the same receipts as a table to compare with. */
export class UsageCampaign {
  readonly world: World;
  readonly table: ReceiptTable;
  readonly #terms: UsageTerms;
  readonly #random: Random;

  constructor(terms: UsageTerms) {
    this.#terms = terms;
    this.#random = new Random(terms.seed);
    this.world = makeWorld(this.#random);
    this.table = makeReceipts(this.world, this.#random, terms);
  }

  /** Writes the receipts, and closes those of the first part of the period, so that reports need both. */
  async begin(): Promise<void> {
    const { store, clock, sinceMs, untilMs, refunds } = this.#terms;
    const epoch = await openWorld(store, this.world);
    await storeReceipts(store, this.table, this.world, epoch);
    this.#say(`${this.table.count} receipts are stored`);
    clock.advance(Math.floor((untilMs - sinceMs) * 0.8));
    const { closed } = await store.closeBooks(null);
    this.#say(`${closed} of them are closed`);
    await refundSome(store, this.table, this.world, this.#random, refunds);
  }

  async closeAll(): Promise<void> {
    const { store, clock, untilMs } = this.#terms;
    clock.advance(untilMs - clock.nowMs() + 10 * 3_600_000);
    const { closed } = await store.closeBooks(null);
    this.#say(`${closed} more are closed`);
  }

  /** Runs random reports, and returns what differs from the receipts. Sums are kept longer than receipts. */
  async compare(queries = this.#terms.queries, from: 'receipts' | 'sums' = 'receipts'): Promise<string[]> {
    const found: string[] = [];
    let rows = 0;
    for (let done = 0; done < queries; done++) {
      const any = anyQuery(this.world, this.#random, this.#terms);
      const query = from === 'sums' ? { ...any, detail: null } : any;
      const { difference, groups } = await this.#compareOne(query);
      rows += groups;
      if (difference !== null) found.push(`${describe(query)}: ${difference}`);
    }
    this.#say(`${queries} reports with ${rows} rows are compared, ${found.length} differ`);
    return found;
  }

  async #compareOne(query: UsageQuery): Promise<{ difference: string | null; groups: number }> {
    const report = await this.#terms.store.usage.report(query);
    const expected = expectedGroups(this.table, this.world, query);
    // A report may be refused only if it really has too many rows.
    if (report === 'too_many_rows' && expected.size > LIMITS.usageRowsMax) return { difference: null, groups: 0 };
    if (typeof report === 'string') return { difference: report, groups: 0 };
    return { difference: differenceOf(expected, reportedGroups(report, query)), groups: expected.size };
  }

  #say(words: string): void {
    this.#terms.onStep?.(words);
  }
}

function describe(query: UsageQuery): string {
  return JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
