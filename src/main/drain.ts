import type { Server } from 'node:http';
import type { Gateway } from '../gateway/gateway.ts';
import type { HttpServer } from '../http1/server.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';

/**
 * Waits until load balancers have seen that the process is not ready: one that learns of it from a refused connection, or from
 * one that ends, may lose the call that it sends there.
 */
export function giveNotice(clock: Clock, noticeMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(noticeMs, resolve));
}

/**
 * Accepts no new connection, waits for running calls, cuts off the rest, and waits until the last one is settled.
 * `runElsewhere` resolves when another worker has ended the calls that arrived here and that it runs.
 */
export async function drain(
  servers: readonly HttpServer[],
  { clock, shutdown }: Pick<Gateway, 'clock' | 'shutdown'>,
  waitMs: number,
  log: Log,
  runElsewhere: () => Promise<void> = async () => {},
): Promise<void> {
  const closed = Promise.all(servers.map((server) => server.close()));
  // A failure is thrown below, after the calls: unhandled until then, it would end the process and all of them.
  closed.catch(() => undefined);
  const deadline = clock.after(waitMs, () => {
    log.warn({ calls: shutdown.callsUnderWay }, 'Time is up: running calls are cut off.');
    shutdown.cutShort();
  });
  await Promise.all([shutdown.idle(), runElsewhere()]);
  deadline.cancel();
  const lastWrites = clock.after(LIMITS.lastWordMs, () => {
    for (const server of servers) server.cutAll();
  });
  await closed;
  lastWrites.cancel();
  // A request that was still arriving may have become a call by now, although its client is gone.
  shutdown.cutShort();
  await shutdown.idle();
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
