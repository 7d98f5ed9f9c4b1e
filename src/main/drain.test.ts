import { expect, test } from 'vitest';
import { Shutdown } from '../gateway/guards/shutdown.ts';
import type { HttpServer } from '../http1/server.ts';
import { ManualClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { drain } from './drain.ts';

test('a connection whose call runs in another worker is cut only after that call has ended', async () => {
  const clock = new ManualClock();
  let cuts = 0;
  let close = (): void => {};
  const server: HttpServer = {
    connections: 1,
    listen: async () => '',
    close: () => new Promise((resolve) => (close = resolve)),
    cutAll: () => {
      cuts++;
      close();
    },
  };
  const elsewhere = new Shutdown();
  elsewhere.callBegins();
  const gateway = { clock, shutdown: new Shutdown() };
  const log = createLog({ level: 'silent', destination: { write: () => {} } });
  const drained = drain([server], gateway, 10 * LIMITS.lastWordMs, log, () => elsewhere.idle());
  await Promise.resolve();
  clock.advance(5 * LIMITS.lastWordMs);
  expect(cuts).toBe(0);
  elsewhere.callEnds();
  // The timer is set a few microtasks later.
  await new Promise(setImmediate);
  clock.advance(LIMITS.lastWordMs);
  await drained;
  expect(cuts).toBe(1);
});

test('a worker that fails while it drains does not cut off the calls of the others', async () => {
  const failing: HttpServer = {
    connections: 0,
    listen: async () => '',
    close: () => Promise.reject(new Error('Worker 2 failed.')),
    cutAll: () => {},
  };
  const gateway = { clock: new ManualClock(), shutdown: new Shutdown() };
  gateway.shutdown.callBegins();
  const log = createLog({ level: 'silent', destination: { write: () => {} } });
  let isOver = false;
  const drained = drain([failing], gateway, LIMITS.lastWordMs, log).finally(() => {
    isOver = true;
  });
  // Without a handler, the process would end here.
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  gateway.shutdown.callEnds();
  await expect(drained).rejects.toThrow('Worker 2 failed.');
});
