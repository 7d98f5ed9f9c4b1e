import type { Server } from 'node:http';
import type { Gateway } from '../gateway/gateway.ts';
import { RunningCalls } from '../gateway/running-calls.ts';
import type { HttpServer } from '../http1/server.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { pause } from '../kit/pause.ts';
import { LIMITS } from '../limits.ts';

/**
 * Waits until load balancers have seen that the process is not ready: one that learns of it from a refused connection, or from
 * one that ends, may lose the call that it sends there.
 */
export function giveNotice(clock: Clock, noticeMs: number): Promise<void> {
  return pause(clock, noticeMs);
}

/**
 * Accepts no new connection, waits for running calls, cuts off the rest, and waits until the last one is settled.
 * `elsewhere` counts the calls that arrived here and that another worker runs.
 */
export async function drain(
  servers: readonly HttpServer[],
  { clock, runningCalls }: Pick<Gateway, 'clock' | 'runningCalls'>,
  waitMs: number,
  log: Log,
  elsewhere: Pick<RunningCalls, 'idle' | 'count'> = new RunningCalls(),
): Promise<void> {
  const closed = Promise.all(servers.map((server) => server.close()));
  // A failure is thrown below, after the calls: unhandled until then, it would end the process and all of them.
  closed.catch(() => undefined);
  const due = Promise.withResolvers<void>();
  // Once the time is up, those who run the others cut them off; a request that never arrives would not end at all.
  const callsElsewhere = (): number => (runningCalls.areCutOff ? 0 : elsewhere.count);
  const hasCalls = (): boolean => runningCalls.count + callsElsewhere() > 0;
  // Set until the end: other workers may still wait for calls that run here.
  const deadline = clock.after(waitMs, () => {
    if (runningCalls.count > 0) log.warn({ calls: runningCalls.count }, 'Time is up: running calls are cut off.');
    runningCalls.cutOff();
    due.resolve();
  });
  try {
    // A request that was still arriving becomes a call later, and has the rest of the time as every other call.
    do await Promise.all([runningCalls.idle(), Promise.race([elsewhere.idle(), due.promise])]);
    while (!(await endsWithin(clock, LIMITS.shutdownReadMs, closed)) && hasCalls());
    for (const server of servers) server.cutAll();
    await closed;
  } finally {
    deadline.cancel();
  }
  // A request that was still arriving may have become a call by now, although its client is gone.
  runningCalls.cutOff();
  await runningCalls.idle();
}

/** Whether the work ends in this time. Rejects if it fails before. */
function endsWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(false));
    work.then(() => resolve(true), reject).finally(() => timer.cancel());
  });
}

export function closeListener(listener: HttpServer): Promise<void> {
  const closed = listener.close();
  listener.cutAll();
  return closed;
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
