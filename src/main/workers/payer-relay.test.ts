import { expect, test } from 'vitest';
import type { Payers } from '../../alerts/changed-payers.ts';
import type { ExchangeRecord } from '../../gateway/exchange-record.ts';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { PayerRelay } from './payer-relay.ts';

const KEY = { id: 7n, accountId: 1n, capNanousd: 5n, personId: null };

function record(more: Partial<ExchangeRecord>): ExchangeRecord {
  const caller = { accountId: 1n, keyId: 7n, key: KEY };
  return { caller, costNanousd: 0n, lossNanousd: 0n, refusedCap: null, ...more } as ExchangeRecord;
}

test('a worker tells who paid, was refused for a cap, or cost the operator something, once in a while', () => {
  const clock = new ManualClock();
  const sent: Payers[] = [];
  const relay = new PayerRelay(clock, (payers) => sent.push(payers));
  relay.note(record({}));
  clock.advance(LIMITS.workerPayersMs);
  expect(sent).toEqual([]);
  relay.note(record({ costNanousd: 3n }));
  relay.note(record({ refusedCap: 'key', lossNanousd: 1n }));
  expect(sent).toEqual([]);
  clock.advance(LIMITS.workerPayersMs);
  expect(sent).toEqual([{ accounts: [1n], keys: [{ key: KEY, refusedCaps: ['key'] }], hasLosses: true }]);
  relay.flush();
  expect(sent).toHaveLength(1);
});

test('a worker tells of a call that cost the operator something, even if nobody paid for it', () => {
  const sent: Payers[] = [];
  const relay = new PayerRelay(new ManualClock(), (payers) => sent.push(payers));
  relay.note(record({ lossNanousd: 1n }));
  relay.flush();
  expect(sent).toEqual([{ accounts: [], keys: [], hasLosses: true }]);
});
