/** Enough turns of the event loop for anything on a loaded machine; a condition that takes more never comes. */
const TURNS_MAX = 2_000_000;

/** Waits for a condition by looking at it once every turn of the event loop, never by sleeping. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    if (await condition()) return;
    await nextTurn();
  }
  throw new Error(`Waited in vain until ${what}.`);
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Gives what should not happen every chance to happen. */
export async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await nextTurn();
}
