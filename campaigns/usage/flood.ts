import { GatewayError } from '../../src/canonical/errors.ts';
import { RefusalLog } from '../../src/gateway/refusal-log.ts';
import type { ManualClock } from '../../src/kit/clock.ts';
import { idFloorAt } from '../../src/kit/ids.ts';
import type { Store } from '../../src/store/store.ts';

const OTHERS = 50;
const PER_WRITE = 100_000;
const ANY = { id: null, keyId: null, personId: null, model: null, code: null, sinceMs: null, untilMs: null };

/** One key is refused very often, while others are refused now and then; all of theirs must be found afterwards. */
export async function floodRefusals(store: Store, clock: ManualClock, count: number): Promise<string> {
  const { usage } = store;
  let failures = 0;
  const log = new RefusalLog({ usage, clock, onFailure: () => (failures += 1) });
  const error = new GatewayError('rate_limit_exceeded', { message: 'Too many requests. Try again shortly.' });
  let ids = idFloorAt(clock.nowMs());
  const refuse = (accountId: bigint): void =>
    log.refused(
      { id: ++ids, caller: { accountId, keyId: accountId, key: null }, route: '/v1/messages', model: null },
      error,
    );
  const heapBefore = process.memoryUsage().heapUsed;
  let noting = 0;
  let writing = 0;
  for (let done = 0; done < count; done += PER_WRITE) {
    let startedMs = performance.now();
    for (let call = 0; call < Math.min(PER_WRITE, count - done); call++) refuse(1n);
    noting += performance.now() - startedMs;
    for (let other = 0; other < OTHERS; other++) refuse(BigInt(1_000 + other));
    startedMs = performance.now();
    await log.write();
    writing += performance.now() - startedMs;
  }
  const heapMb = Math.round((process.memoryUsage().heapUsed - heapBefore) / 1e6);
  const found = await Promise.all(
    Array.from({ length: OTHERS }, (_, other) =>
      usage.listRefusals({ ...ANY, accountId: BigInt(1_000 + other) }, { limit: 1_000, after: null }),
    ),
  );
  const rounds = Math.ceil(count / PER_WRITE);
  const lost = found.filter((rows) => rows.length !== rounds).length;
  const kept = (await usage.listRefusals({ ...ANY, accountId: 1n }, { limit: 10_000, after: null })).length;
  const each = ((noting / count) * 1e3).toFixed(2);
  const verdict =
    lost === 0 && failures === 0 ? 'all others are found' : `${lost} others are lost, ${failures} writes failed`;
  return `${count} refusals of one key: ${each} µs each, ${Math.round(writing / rounds)} ms per write, ${heapMb} MB more heap, ${kept} rows kept; ${verdict}`;
}
