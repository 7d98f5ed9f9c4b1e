import { beforeEach, expect, test } from 'vitest';
import { nextTurn } from '../../test/until.ts';
import { RunningCalls } from '../gateway/running-calls.ts';
import type { HttpServer } from '../http1/server.ts';
import { ManualClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { drain } from './drain.ts';

let clock: ManualClock;
let runningCalls: RunningCalls;
let elsewhere: RunningCalls;
let cuts: number;
let close: () => void;
const log = createLog({ level: 'silent', destination: { write: () => {} } });

const server: HttpServer = {
  connections: 1,
  listen: async () => '',
  close: () =>
    new Promise((resolve) => {
      close = resolve;
    }),
  cutAll: () => {
    cuts++;
    close();
  },
};

beforeEach(() => {
  clock = new ManualClock();
  runningCalls = new RunningCalls();
  elsewhere = new RunningCalls();
  cuts = 0;
});

/** Lets timers be set that follow from what has happened, and then time pass. */
async function pass(ms: number): Promise<void> {
  await nextTurn();
  clock.advance(ms);
  await nextTurn();
}

test('a connection whose call runs in another worker is cut only after that call has ended', async () => {
  elsewhere.begin();
  const drained = drain([server], { clock, runningCalls }, 10 * LIMITS.shutdownReadMs, log, elsewhere);
  await pass(5 * LIMITS.shutdownReadMs);
  expect(cuts).toBe(0);
  elsewhere.end();
  await pass(LIMITS.shutdownReadMs);
  await drained;
  expect(cuts).toBe(1);
});

test.each([
  ['here', () => runningCalls],
  ['in another worker', () => elsewhere],
])('a call %s whose request was still arriving has as much time as every other', async (_, calls) => {
  const drained = drain([server], { clock, runningCalls }, 10 * LIMITS.shutdownReadMs, log, elsewhere);
  await pass(LIMITS.shutdownReadMs - 1);
  calls().begin();
  await pass(5 * LIMITS.shutdownReadMs);
  expect([cuts, runningCalls.areCutOff]).toEqual([0, false]);
  calls().end();
  await pass(LIMITS.shutdownReadMs);
  await drained;
  expect(cuts).toBe(1);
});

test('a call that another worker waits for is cut off when the time is up, although none ran here before', async () => {
  const drained = drain([server], { clock, runningCalls }, 10 * LIMITS.shutdownReadMs, log, elsewhere);
  const closeWhenCalled = close;
  close = () => {};
  await pass(LIMITS.shutdownReadMs);
  expect(cuts).toBe(1);
  runningCalls.begin();
  const forget = runningCalls.onCutOff(() => {
    forget();
    runningCalls.end();
    closeWhenCalled();
  });
  await pass(10 * LIMITS.shutdownReadMs);
  await drained;
});

test('a call in another worker whose request does not arrive is waited for until the time is up, and not longer', async () => {
  elsewhere.begin();
  const drained = drain([server], { clock, runningCalls }, 10 * LIMITS.shutdownReadMs, log, elsewhere);
  await pass(10 * LIMITS.shutdownReadMs);
  expect(cuts).toBe(0);
  await pass(LIMITS.shutdownReadMs);
  expect(cuts).toBe(1);
  await drained;
});

test('a worker that fails while it drains does not cut off the calls of the others', async () => {
  const failing: HttpServer = {
    connections: 0,
    listen: async () => '',
    close: () => Promise.reject(new Error('Worker 2 failed.')),
    cutAll: () => {},
  };
  runningCalls.begin();
  let isOver = false;
  const drained = drain([failing], { clock, runningCalls }, LIMITS.shutdownReadMs, log).finally(() => {
    isOver = true;
  });
  // Without a handler, the process would end here.
  await nextTurn();
  expect(isOver).toBe(false);
  runningCalls.end();
  await expect(drained).rejects.toThrow('Worker 2 failed.');
});
