/** On a machine whose cores are mostly taken by others, a cycle of seconds has taken two minutes. */
const CYCLE_MS_MAX = 300_000;

/** A cycle that hangs is a fault, not a reason to wait for ever. */
export async function withinReason<Result>(work: Promise<Result>): Promise<Result> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`A cycle took more than ${CYCLE_MS_MAX} ms.`)), CYCLE_MS_MAX);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
