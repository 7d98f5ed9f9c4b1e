/** What a worker is told. */
export interface WorkerTerms {
  readonly url: string;
  readonly operations: number;
  readonly seed: number;
}

/** What it tells at its end. */
export interface WorkerReport {
  readonly operations: number;
  readonly outcomes: readonly (readonly [kind: string, count: number])[];
  readonly failures: readonly string[];
  /** By how much it moved each balance, by the account's id. */
  readonly balances: readonly (readonly [id: string, nanousd: string])[];
}

/** The first is the hot one: it has more keys than the others have. */
export const ACCOUNTS = 40;
export const KEYS_OF_HOT = 5;

export function keysOf(accountId: bigint): number {
  return accountId === 1n ? KEYS_OF_HOT : 2;
}

export function keyOf(accountId: bigint, number: number): bigint {
  return accountId * 10n + BigInt(number);
}
