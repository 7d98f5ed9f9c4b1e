/** The instructions of a worker. */
export interface WorkerTerms {
  readonly url: string;
  readonly operations: number;
  readonly seed: number;
}

/** Its report at the end. */
export interface WorkerReport {
  readonly operations: number;
  readonly outcomes: readonly (readonly [kind: string, count: number])[];
  readonly failures: readonly string[];
  /** By how much it changed each balance, by account id. */
  readonly balances: readonly (readonly [id: string, nanousd: string])[];
}

/** The first account is the hot one: it has more keys than the others. */
export const ACCOUNTS = 40;
const KEYS_OF_HOT = 5;

export function keysOf(accountId: bigint): number {
  return accountId === 1n ? KEYS_OF_HOT : 2;
}

export function keyOf(accountId: bigint, number: number): bigint {
  return accountId * 10n + BigInt(number);
}
