import { beforeEach, expect, test } from 'vitest';
import type { ResponseReceiver } from '../egress/sender.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { ProviderKeyRow, ProviderKeyUse } from '../store/store.ts';
import { KeyUses } from './key-use.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
const ROW: ProviderKeyRow = {
  id: 5n,
  accountId: 1n,
  provider: 'cloud',
  baseUrl: 'https://resource.example/openai/v1',
  lastFour: 'tail',
  sealed: Buffer.alloc(1),
  createdMs: NOW_MS,
  verifiedMs: NOW_MS,
  rejectedMs: null,
  usedMs: null,
};
const IGNORED: ResponseReceiver = { head: () => {}, data: () => {}, end: () => {}, failed: () => {} };

let clock: ManualClock;
let uses: KeyUses;
let row: ProviderKeyRow;
let writes: ProviderKeyUse[];
let broken: boolean;

beforeEach(() => {
  clock = new ManualClock(NOW_MS);
  row = ROW;
  writes = [];
  broken = false;
  const noteProviderKeyUse = async (_id: bigint, use: ProviderKeyUse): Promise<void> => {
    writes.push(use);
    if (broken) throw new Error('The store is unreachable.');
    const { usedMs, rejected } = use;
    row = {
      ...row,
      usedMs,
      ...(rejected !== undefined && { rejectedMs: rejected ? (row.rejectedMs ?? usedMs) : null }),
    };
  };
  uses = new KeyUses({ noteProviderKeyUse }, clock);
});

/** Starts a call that reads the row as it is now; the returned function answers the call. */
function begin(): (status: number) => void {
  const observe = uses.begin(row);
  return (status) => observe(IGNORED).head(status, {});
}

async function call(status: number): Promise<void> {
  begin()(status);
  await Promise.resolve();
  await Promise.resolve();
}

test('writes once for any number of calls within an hour', async () => {
  for (let count = 0; count < 50; count++) await call(200);
  expect(writes).toEqual([{ usedMs: NOW_MS }]);
  clock.advance(LIMITS.providerKeyUseMs);
  await call(429);
  await call(200);
  expect(writes).toEqual([{ usedMs: NOW_MS }, { usedMs: NOW_MS + LIMITS.providerKeyUseMs }]);
});

test('writes once when the key is refused, and once when it is accepted again', async () => {
  await call(200);
  clock.advance(1);
  for (const status of [401, 403, 401]) await call(status);
  expect(row).toMatchObject({ rejectedMs: NOW_MS + 1, usedMs: NOW_MS + 1 });
  for (const status of [404, 429, 500, 200, 200]) await call(status);
  expect(row.rejectedMs).toBeNull();
  expect(writes.map(({ rejected }) => rejected)).toEqual([undefined, true, false]);
});

test('writes once for concurrent calls', async () => {
  const calls = Array.from({ length: 20 }, () => begin());
  for (const answer of calls) answer(401);
  await Promise.resolve();
  expect(writes).toEqual([{ usedMs: NOW_MS, rejected: true }]);
});

test('follows what another process wrote', async () => {
  await call(200);
  row = { ...row, rejectedMs: NOW_MS };
  await call(200);
  expect(writes.at(-1)).toEqual({ usedMs: NOW_MS, rejected: false });
});

test('tries again with the next call when a write fails', async () => {
  broken = true;
  await call(401);
  broken = false;
  await call(401);
  expect(writes).toHaveLength(2);
  expect(row.rejectedMs).toBe(NOW_MS);
});

test('passes the response of the host on', () => {
  const seen: unknown[] = [];
  const receiver: ResponseReceiver = {
    head: (status, headers) => void seen.push(status, headers),
    data: (chunks) => void seen.push(...chunks),
    end: () => void seen.push('end'),
    failed: (error) => void seen.push(error),
  };
  const observed = uses.begin(row)(receiver);
  const [headers, chunk, error] = [{ a: 'b' }, Buffer.from('x'), new Error('gone')];
  observed.head(200, headers);
  observed.data([chunk]);
  observed.end();
  observed.failed(error);
  expect(seen).toEqual([200, headers, chunk, 'end', error]);
});
