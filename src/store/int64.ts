import { INT64_MAX } from '../money/nanousd.ts';

/** The range of a 64-bit column; every stored amount and every sum of amounts stays within it. */
export { INT64_MAX };
export const INT64_MIN = -(2n ** 63n);

export function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** A single amount stays strictly inside the bounds, because the bounds stand for amounts that are too large. */
export function isAmount(value: bigint): boolean {
  return value > -INT64_MAX && value < INT64_MAX;
}
