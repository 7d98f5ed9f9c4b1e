import { setTimeout as pause } from 'node:timers/promises';

/** How often a condition is checked before the first pause: work of this process itself takes no longer. */
const TURNS = 500;
/** The same for a condition that asks a gateway or a database, which costs more than all that the test waits for. */
const QUESTIONS = 10;
/** Checks with a pause between them. Without it, the wait for another process or thread would take a core from it. */
const PAUSES_MAX = 12_000;
const SHORT_PAUSES = 200;
const SHORT_PAUSES_OF_QUESTIONS = 20;
const SHORT_PAUSE_MS = 1;
/** For waits that take longer, such as for a timeout of the database: each check may be a query. */
const LONG_PAUSE_MS = 10;

/** Waits for a condition by checking it again and again, first at every turn of the event loop, then with pauses. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let look = 0; look < TURNS + PAUSES_MAX; look++) {
    const answer = condition();
    if (await answer) return;
    const [turns, shortPauses] =
      answer instanceof Promise ? [QUESTIONS, SHORT_PAUSES_OF_QUESTIONS] : [TURNS, SHORT_PAUSES];
    if (look < turns) await nextTurn();
    else await pause(look < turns + shortPauses ? SHORT_PAUSE_MS : LONG_PAUSE_MS);
  }
  throw new Error(`Waited in vain until ${what}.`);
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets everything run that could still make something happen that should not. */
export async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await nextTurn();
}
