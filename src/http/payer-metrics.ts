import type { Registry } from 'prom-client';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../canonical/id-prefixes.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { CounterTally } from './tally.ts';

/** Whether accounts and keys have series of their own. */
export interface PayerSeries {
  readonly perAccount: boolean;
  readonly perKey: boolean;
}

/** The label of calls without a key, and of accounts and keys beyond the largest number of series. */
const OTHER = 'other';

/** Calls and costs by account and by key, if that is wanted. Labels are ids, and there are only so many of them. */
export class PayerMetrics {
  readonly #accounts: PayerTally | null;
  readonly #keys: PayerTally | null;

  constructor(registry: Registry, { perAccount, perKey }: PayerSeries) {
    this.#accounts = perAccount ? new PayerTally(registry, 'account', ACCOUNT_PREFIX) : null;
    this.#keys = perKey ? new PayerTally(registry, 'key', KEY_PREFIX) : null;
  }

  observe({ caller, costNanousd }: ExchangeRecord): void {
    this.#accounts?.add(caller.accountId, costNanousd);
    this.#keys?.add(caller.key?.id ?? null, costNanousd);
  }
}

interface PayerCounts {
  readonly calls: { count: number };
  readonly cost: { count: number };
}

class PayerTally {
  readonly #prefix: string;
  readonly #calls: CounterTally;
  readonly #cost: CounterTally;
  readonly #counts = new Map<bigint, PayerCounts>();

  constructor(registry: Registry, label: 'account' | 'key', prefix: string) {
    this.#prefix = prefix;
    const terms = { labelNames: [label], registry };
    this.#calls = new CounterTally({ ...terms, name: `tollgate_${label}_calls_total`, help: `Calls by ${label}.` });
    const help = `Charged by ${label}, in nanodollars.`;
    this.#cost = new CounterTally({ ...terms, name: `tollgate_${label}_cost_nanousd_total`, help });
  }

  add(id: bigint | null, costNanousd: bigint): void {
    const counts = (id === null ? undefined : this.#counts.get(id)) ?? this.#countsOf(id);
    counts.calls.count++;
    counts.cost.count += Number(costNanousd);
  }

  #countsOf(id: bigint | null): PayerCounts {
    const isNamed = id !== null && this.#counts.size < LIMITS.payerSeriesMax;
    const label = isNamed ? formatId(this.#prefix, id) : OTHER;
    const counts = { calls: this.#calls.at(label), cost: this.#cost.at(label) };
    if (isNamed) this.#counts.set(id, counts);
    return counts;
  }
}
