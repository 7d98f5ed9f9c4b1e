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
