import { parentPort, Worker } from 'node:worker_threads';
import { median } from './table.ts';

/** How long each copy works in a round. */
const ROUND_MS = 100;

/**
 * What the machine itself gains if threads work side by side: copies of one computation that share nothing, against one of
 * them alone. No number of workers can gain more, and virtual cores often gain less than they seem to promise.
 */
export class PureWork {
  readonly copies: number;
  readonly #threads: readonly Worker[];
  readonly #gains: number[] = [];

  constructor(copies: number) {
    this.copies = copies;
    this.#threads = Array.from({ length: copies }, () => new Worker(import.meta.filename));
    for (const thread of this.#threads) thread.unref();
  }

  /** One alone, all of them, and one alone again. */
  async runRound(): Promise<void> {
    const [first, last] = [this.#threads[0]!, this.#threads.at(-1)!];
    const before = await stepsOf(first);
    const together = await Promise.all(this.#threads.map(stepsOf));
    const after = await stepsOf(last);
    this.#gains.push((2 * together.reduce((sum, steps) => sum + steps, 0)) / (before + after));
  }

  /** The median of the rounds, without the first, in which the code is compiled. */
  get gain(): number {
    return median(this.#gains.slice(1));
  }
}

function stepsOf(thread: Worker): Promise<number> {
  return new Promise((resolve) => {
    thread.once('message', resolve);
    thread.postMessage(ROUND_MS);
  });
}

/** The computation: parsing a small document, again and again. */
function countSteps(ms: number): number {
  const entries = Array.from({ length: 200 }, (_, at) => [`key${at}`, { at, text: String(at) }]);
  const document = JSON.stringify(Object.fromEntries(entries));
  let steps = 0;
  for (const endMs = performance.now() + ms; performance.now() < endMs; steps++) JSON.parse(document);
  return steps;
}

parentPort?.on('message', (ms: number) => parentPort?.postMessage(countSteps(ms)));
