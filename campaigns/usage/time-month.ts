import type { ManualClock } from '../../src/kit/clock.ts';
import { idFloorAt } from '../../src/kit/ids.ts';
import type { Store } from '../../src/store/store.ts';
import type { UsageQuery } from '../../src/store/usage-report.ts';
import { aHold, aSettle } from '../../test/store-fixtures.ts';

const RUNS = 20;
const CALLS_PER_SECOND = 50;

/** The median of a month's report by day and model, with and without times, while calls are held and settled. */
export async function timeMonth(store: Store, clock: ManualClock): Promise<string> {
  const calls = new SteadyCalls(store, clock);
  const [plain, whole] = [await median(store, false), await median(store, true)];
  const made = await calls.stop();
  return `February by day and model takes ${plain} ms, with percentiles ${whole} ms (median of ${RUNS}, while ${made} calls ran)`;
}

async function median(store: Store, times: boolean): Promise<number> {
  const query: UsageQuery = {
    sinceMs: Date.UTC(2026, 1, 1),
    untilMs: Date.UTC(2026, 2, 1),
    bucket: 'day',
    groups: ['effective_model'],
    detail: null,
    filter: { accountId: null, keyId: null, personId: null, model: null, route: null, host: null },
    times,
  };
  const took: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedMs = performance.now();
    const rows = await store.usage.report(query);
    if (typeof rows === 'string' || rows.length === 0) throw new Error('The month has no usage.');
    took.push(performance.now() - startedMs);
  }
  return Math.round(took.toSorted((a, b) => a - b)[RUNS / 2]!);
}

/** Holds and settles calls at a steady rate until it is stopped. */
class SteadyCalls {
  readonly #store: Store;
  readonly #nowMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Set<Promise<void>>();
  #made = 0;

  constructor(store: Store, clock: ManualClock) {
    this.#store = store;
    this.#nowMs = clock.nowMs();
    this.#timer = setInterval(() => this.#begin(), 1_000 / CALLS_PER_SECOND);
  }

  #begin(): void {
    const running = this.#call(++this.#made).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #call(number: number): Promise<void> {
    const id = idFloorAt(this.#nowMs) + BigInt(number);
    await this.#store.apply([aHold(id, 1_000n, { createdMs: this.#nowMs })]);
    await this.#store.apply([{ ...aSettle(id, 500n), endedMs: this.#nowMs + 5 }]);
  }

  async stop(): Promise<number> {
    clearInterval(this.#timer);
    await Promise.all(this.#running);
    return this.#made;
  }
}
