import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

/** Sums over the whole store. */
interface BookSums {
  readonly balanceNanousd: bigint;
  readonly heldNanousd: bigint;
  readonly reservedNanousd: bigint;
  readonly openAlerts: number;
  readonly waitingDeliveries: number;
}

export interface BookSources {
  sums(): Promise<BookSums>;
  readonly clock: Clock;
}

type Read = (sums: BookSums) => number;

const GAUGES: readonly (readonly [name: string, help: string, read: Read])[] = [
  [
    'tollgate_balance_nanousd',
    'Balances of all prepaid accounts together, in nanodollars.',
    (sums) => Number(sums.balanceNanousd),
  ],
  ['tollgate_held_nanousd', 'Held for calls that have not ended, in nanodollars.', (sums) => Number(sums.heldNanousd)],
  [
    'tollgate_reserved_nanousd',
    'Reserved for jobs that wait to run, in nanodollars.',
    (sums) => Number(sums.reservedNanousd),
  ],
  ['tollgate_alerts_open', 'Alerts whose condition holds.', (sums) => sums.openAlerts],
  ['tollgate_webhook_deliveries_waiting', 'Webhook deliveries that wait.', (sums) => sums.waitingDeliveries],
];

/** Sums over the whole store. They are read when they are scraped, at most every few seconds; none is shown if that fails. */
export function gaugeBooks(registry: Registry, { sums, clock }: BookSources): void {
  const read = atMostOften(clock, sums);
  for (const [name, help, figureOf] of GAUGES)
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const found = await read();
        if (found === null) this.remove({});
        else this.set(figureOf(found));
      },
    });
}

/** Reads something at most every few seconds, and gives what was read last in between; null if that failed. */
export function atMostOften<Result>(clock: Clock, read: () => Promise<Result>): () => Promise<Result | null> {
  let last: Promise<Result | null> = Promise.resolve(null);
  let readAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - readAtMs < LIMITS.bookSumsMs) return last;
    readAtMs = nowMs;
    last = read().catch(() => null);
    return last;
  };
}
