import { afterEach, expect, test } from 'vitest';
import { responseMemory } from '../gateway/guards/response-room.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { buildGuards, type GuardServices, type Guards } from './guards.ts';
import { ownState } from './workers/thread-state.ts';

const RATE = {
  requestsPerSecond: 10,
  burst: 20,
  bodyBytesPerSecond: null,
  jsonMembersPerSecond: null,
  calls: null,
  streams: null,
};
const NO_LOAD_LIMITS = {
  eventLoopLagMs: null,
  heapShare: null,
  residentBytes: null,
  connections: 1,
  callsUnderWay: null,
  ledgerDepth: null,
};

let guards: Guards | null = null;
afterEach(() => guards?.close());

function build(accountFactor: number | null) {
  const clock = new ManualClock(0);
  const answers = responseMemory();
  const refused: string[] = [];
  guards = buildGuards({
    config: { rateLimit: { ...RATE, accountFactor }, loadLimits: NO_LOAD_LIMITS },
    clock,
    log: { info: () => {}, warn: () => {} } as unknown as GuardServices['log'],
    ledger: { depth: 0 },
    runningCalls: { countInProcess: 0 },
    egress: { waiting: 0 },
    state: ownState(),
    answers,
    count: (reason) => refused.push(reason),
  });
  const ask = (keyId: bigint | null, accountId = 1n) => guards!.turnAway({ keyId, accountId, key: null }, true);
  return { clock, answers, refused, ask };
}

test('refuses an account that sends too many requests with many keys, and not its neighbours', () => {
  const { clock, refused, ask } = build(2);
  for (let key = 1n; key <= 40n; key++) expect(ask(key)).toBeNull();
  const error = ask(41n);
  expect([error?.status, error?.retryAfterS, refused]).toEqual([429, 1, ['account_rate']]);
  expect(error?.message).toContain('keys of this account together may send 20 requests per second');
  expect([ask(42n, 2n), ask(null)]).toEqual([null, null]);
  clock.advance(1_000);
  expect(ask(41n)).toBeNull();
});

test('limits only keys, unless it is told to limit accounts', () => {
  const { ask } = build(null);
  for (let key = 1n; key <= 1_000n; key++) expect(ask(key)).toBeNull();
});

test('refuses every request of an account whose clients have left too much unread', () => {
  const { answers, refused, ask } = build(null);
  answers.add(null, LIMITS.answersBytesMax, 1n);
  expect([ask(1n)?.status, ask(2n)?.status, ask(3n, 2n), ask(null)]).toEqual([429, 429, null, null]);
  expect(refused).toEqual(['unread', 'unread']);
  answers.free(null, LIMITS.answersBytesMax, 1n);
  expect(ask(1n)).toBeNull();
});
