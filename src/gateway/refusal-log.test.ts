import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/errors.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { RefusalBatch } from '../store/refusals.ts';
import { RefusalLog } from './refusal-log.ts';

const NOON_MS = Date.UTC(2026, 2, 15, 12);
const BROKE = new GatewayError('insufficient_allowance', {
  message: 'The balance leaves $0.',
  amounts: { worstNanousd: 500n, availableNanousd: 3n },
});

function open(failures = 0, onFailing: () => void = () => undefined) {
  const clock = new ManualClock(NOON_MS);
  const batches: RefusalBatch[] = [];
  const errors: unknown[] = [];
  let left = failures;
  const log = new RefusalLog({
    clock,
    usage: {
      noteRefusals: async (batch) => {
        if (left-- > 0) {
          onFailing();
          throw new Error('The store is unreachable.');
        }
        batches.push(batch);
      },
    },
    onFailure: (error) => void errors.push(error),
  });
  let ids = 0n;
  const refuse = (accountId: bigint, keyId: bigint | null = accountId, error = BROKE): void =>
    log.refused({ id: ++ids, caller: { accountId, keyId, key: null }, route: '/v1/messages', model: 'm' }, error);
  const wait = async (): Promise<void> => {
    clock.advance(LIMITS.refusalWriteMs);
    await log.write();
  };
  return { clock, batches, errors, log, refuse, wait };
}

test('refused calls are written behind the calls, in batches, with what refused them', async () => {
  const { batches, refuse, wait } = open();
  refuse(1n);
  expect(batches).toEqual([]);
  await wait();
  const refusal = {
    id: 1n,
    accountId: 1n,
    keyId: 1n,
    atMs: NOON_MS,
    route: '/v1/messages',
    model: 'm',
    status: 402,
    code: 'insufficient_quota',
    message: 'The balance leaves $0.',
    worstNanousd: 500n,
    availableNanousd: 3n,
  };
  const count = { startMs: NOON_MS, accountId: 1n, keyId: 1n, code: 'insufficient_quota', refused: 1 };
  expect(batches).toEqual([{ counts: [count], rows: [refusal], prunes: true }]);
  await wait();
  expect(batches).toHaveLength(1);
});

test('a flood of one account is counted exactly, keeps its latest calls, and displaces nobody', async () => {
  const { batches, refuse, wait } = open();
  refuse(7n);
  for (let call = 0; call < 100_000; call++) refuse(1n);
  refuse(8n);
  await wait();
  const [{ counts, rows }] = batches as [RefusalBatch];
  expect(new Map(counts.map(({ accountId, refused }) => [accountId, refused]))).toEqual(
    new Map([
      [7n, 1],
      [1n, 100_000],
      [8n, 1],
    ]),
  );
  const own = rows.filter(({ accountId }) => accountId === 1n).map(({ id }) => id);
  expect(own).toHaveLength(LIMITS.refusalsWaitingPerAccountMax);
  expect(own.toSorted((a, b) => Number(a - b)).at(0)).toBe(100_001n - BigInt(LIMITS.refusalsWaitingPerAccountMax) + 1n);
  expect(rows.filter(({ accountId }) => accountId !== 1n).map(({ id }) => id)).toEqual([1n, 100_002n]);
});

test('memory is bounded, however many accounts are refused', async () => {
  const { batches, refuse, wait } = open();
  for (let account = 1; account <= 2 * LIMITS.refusalsWaitingMax; account++) refuse(BigInt(account));
  await wait();
  expect(batches[0]!.rows).toHaveLength(LIMITS.refusalsWaitingMax);
  expect(batches[0]!.counts).toHaveLength(2 * LIMITS.refusalsWaitingMax);
});

test('what could not be written is written with the next attempt, once', async () => {
  const { batches, errors, refuse, wait } = open(2);
  refuse(1n);
  await wait();
  refuse(1n);
  refuse(2n, null);
  await wait();
  expect(errors).toHaveLength(2);
  await wait();
  expect(batches).toHaveLength(1);
  expect(batches[0]!.counts.map(({ accountId, refused }) => [accountId, refused])).toEqual([
    [1n, 2],
    [2n, 1],
  ]);
  expect(batches[0]!.rows.map(({ id }) => id)).toEqual([1n, 2n, 3n]);
});

test('a call without a key is not counted for a key with the number of its account', async () => {
  const { batches, refuse, wait } = open();
  refuse(5n, null);
  refuse(6n, 5n);
  await wait();
  expect(batches[0]!.counts.map(({ accountId, keyId, refused }) => [accountId, keyId, refused])).toEqual([
    [5n, null, 1],
    [6n, 5n, 1],
  ]);
});

test('calls of different hours and codes are counted apart', async () => {
  const { clock, batches, log, refuse } = open();
  refuse(1n);
  clock.advance(3_599_999);
  refuse(1n, 1n, new GatewayError('rate_limit_exceeded', { message: 'Too many requests.' }));
  clock.advance(1);
  refuse(1n);
  await log.write();
  const counts = batches.flatMap((batch) => batch.counts);
  expect(counts.map(({ startMs, code }) => [startMs - NOON_MS, code])).toEqual([
    [0, 'insufficient_quota'],
    [0, 'rate_limit_exceeded'],
    [3_600_000, 'insufficient_quota'],
  ]);
});

test('counts that wait for the next attempt stay below their maximum', async () => {
  const meanwhile = (): void => {
    for (let key = 1; key <= LIMITS.refusalCountsMax / 2; key++) refuse(1n, BigInt(-key));
    refuse(1n, 1n);
  };
  const { batches, refuse, wait } = open(1, meanwhile);
  for (let key = 1; key <= LIMITS.refusalCountsMax; key++) refuse(1n, BigInt(key));
  await wait();
  await wait();
  expect(batches[0]!.counts).toHaveLength(LIMITS.refusalCountsMax);
  expect(batches[0]!.counts.find(({ keyId }) => keyId === 1n)?.refused).toBe(2);
});

test('rows beyond the total are dropped now and then, and after many new ones', async () => {
  const { clock, batches, refuse, wait } = open();
  const write = async (accounts = 1): Promise<boolean> => {
    for (let account = 1; account <= accounts; account++) refuse(BigInt(account));
    await wait();
    return batches.at(-1)!.prunes;
  };
  expect([await write(), await write(), await write()]).toEqual([true, false, false]);
  clock.advance(LIMITS.refusalPruneMs);
  expect([await write(), await write()]).toEqual([true, false]);
  expect([await write(LIMITS.refusalsWaitingMax), await write()]).toEqual([true, false]);
});
