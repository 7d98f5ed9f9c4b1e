/** Set while only the quick tests run. */
export const QUICK_VARIABLE = 'TOLLGATE_TEST_QUICK';

const QUICK_PART = 8;

/** How many cases a property tries that takes seconds: all of them in the whole suite, an eighth in the quick one. Each run tries others. */
export function randomCases(most: number): number {
  return process.env[QUICK_VARIABLE] === undefined ? most : Math.ceil(most / QUICK_PART);
}
