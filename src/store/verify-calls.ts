import { CALL_STATE, ENDED } from './codes.ts';

const { open, settled, voided } = CALL_STATE.of;

/** Naming more rows than this would not help. */
export const VIOLATIONS_MAX = 100;

/** How an engine writes what is not the same in both. */
interface Dialect {
  /** The function for the smallest of several values. */
  readonly least: 'min' | 'least';
  /** The first of the amounts of a sum, in a type in which the sum cannot overflow. */
  readonly firstAmount: string;
}

/** The condition that a row must meet in each state. */
export function validCall({ least, firstAmount }: Dialect): string {
  return `CASE state
    WHEN ${open} THEN ended IS NULL AND ended_ms IS NULL AND cost = 0
    WHEN ${settled} THEN ended IS NOT NULL AND ended_ms IS NOT NULL AND http_status IS NOT NULL
      AND cost >= 0 AND cost <= held AND loss >= 0
      AND (fresh IS NULL OR (${least}(fresh, cache_write, cache_read, output) >= 0
        AND ${firstAmount} + cache_write + cache_read + output = cost))
    WHEN ${voided} THEN ended = ${ENDED.of.died} AND cost = 0 AND loss >= 0
    END AND (key_id IS NULL) = (window_id IS NULL) AND (person_id IS NULL) = (person_window_id IS NULL)`;
}

/** What the calls of an account add up to. */
export interface CallSums {
  readonly account_id: bigint;
  readonly calls: bigint;
  readonly open: bigint;
  readonly spent: bigint;
  readonly held: bigint;
  readonly loss: bigint;
}

/** What the closed calls of an account add up to. */
export type ClosedSums = Pick<CallSums, 'account_id' | 'calls' | 'spent' | 'loss'>;

/** The sentences of a report about what does not match. */
export class Violations {
  readonly sentences: string[] = [];

  readonly add = (sentence: string): void => {
    if (this.sentences.length < VIOLATIONS_MAX) this.sentences.push(sentence);
  };

  /** `stored` is null if there is no row of it. */
  compare(what: string, stored: bigint | null, computed: bigint): void {
    if (stored !== computed) this.add(`${what} is ${stored}, but its entries add up to ${computed}.`);
  }
}

export interface Sums {
  spent: bigint;
  held: bigint;
}

export function addTo<Name>(sums: Map<Name, Sums>, name: Name, spent: bigint, held: bigint): void {
  const entry = sums.get(name);
  if (entry === undefined) {
    sums.set(name, { spent, held });
    return;
  }
  entry.spent += spent;
  entry.held += held;
}
