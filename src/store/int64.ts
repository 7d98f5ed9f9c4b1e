import { INT64_MAX } from '../money/nanousd.ts';

/** What a 64-bit column holds; every stored amount and every sum of amounts stays inside. */
export { INT64_MAX };
export const INT64_MIN = -(2n ** 63n);

export function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** One amount stays strictly inside the bounds: the bounds themselves stand for "too large to write down". */
export function isAmount(value: bigint): boolean {
  return value > -INT64_MAX && value < INT64_MAX;
}
