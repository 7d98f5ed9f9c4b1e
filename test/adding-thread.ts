import { workerData } from 'node:worker_threads';
import { NumberTable } from '../src/kit/numbers-by-id.ts';

/** A thread that adds one to a shared number, again and again. */
const { memory, times } = workerData as { readonly memory: SharedArrayBuffer; readonly times: number };
const numbers = new NumberTable({ memory, forgets: false });
for (let time = 0; time < times; time++) {
  numbers.lock();
  numbers.set(1n, (numbers.get(1n) ?? 0) + 1);
  numbers.unlock();
}
