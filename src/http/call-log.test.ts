import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { formatId } from '../kit/ids.ts';
import { createLog } from '../kit/log.ts';
import type { KeyRow } from '../store/store.ts';
import { logCall } from './call-log.ts';

const id = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const money = fc.bigInt({ min: 0n, max: 2n ** 53n - 1n });
const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('gpt-4o', 'say "no"', 'back\\slash', '\u2028', '\ud800'),
);
const textOrNull = fc.option(text);
const count = fc.nat(10_000_000);
const ms = fc.double({ min: 0, max: 1e9, noNaN: true });

const anyRecord: fc.Arbitrary<ExchangeRecord> = fc.record({
  requestId: id.map((one) => formatId('req_', one)),
  route: text,
  caller: fc.record({ accountId: id, keyId: fc.option(id), key: fc.option(fc.nat().map(() => ({}) as KeyRow)) }),
  startedMs: ms,
  requestedModel: textOrNull,
  effectiveModel: textOrNull,
  deploymentOf: textOrNull,
  stream: fc.boolean(),
  host: textOrNull,
  attempts: count,
  tries: fc.option(fc.array(fc.record({ host: text, outcome: text }) as fc.Arbitrary<never>)),
  status: fc.integer({ min: 0, max: 599 }),
  ended: fc.constantFrom('complete', 'failed', 'refused', 'replayed'),
  errorCode: textOrNull,
  refusedCap: fc.constantFrom(null, 'key', 'person'),
  fault: textOrNull,
  usageSource: fc.constantFrom('none', 'reported'),
  usage: fc.option(
    fc.record({
      freshTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      cacheWrite1hTokens: count,
      outputTokens: count,
      reasoningTokens: count,
    }),
  ),
  costNanousd: money,
  heldNanousd: money,
  heldSinceMs: fc.option(ms),
  lossNanousd: money,
  lossReason: textOrNull,
  heldAfterMs: fc.option(ms),
  answeredAfterMs: fc.option(ms),
  settledAfterMs: fc.option(ms),
  totalMs: ms,
  trace: fc.constant(null),
});

test('writes every field of a call as one line of valid JSON, whatever characters they hold', () => {
  fc.assert(
    fc.property(anyRecord, (record) => {
      const lines: string[] = [];
      logCall(createLog({ level: 'info', destination: { write: (line) => lines.push(line) } }), record);
      const { level, time, ...said } = JSON.parse(lines[0]!);
      expect(level).toBe(record.status >= 500 || record.lossReason !== null ? 'warn' : 'info');
      expect(time).toBe(new Date(time).toISOString());
      expect(said).toEqual(JSON.parse(JSON.stringify(expected(record))));
    }),
  );
});

test('docs/deploy.md shows the line of a call with the fields that it has', () => {
  const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const shown = JSON.parse(/^\{"level".*$/m.exec(page)![0]);
  const [record] = fc.sample(anyRecord, { numRuns: 1, seed: 1 });
  const usage = {
    freshTokens: 5,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 36,
    reasoningTokens: 0,
  };
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => lines.push(line) } });
  logCall(log, { ...record!, usage, status: 200, tries: null, fault: null, lossReason: null });
  expect(Object.keys(shown)).toEqual(Object.keys(JSON.parse(lines[0]!)));
});

function expected(record: ExchangeRecord) {
  const { usage, lossReason, caller } = record;
  return {
    request_id: record.requestId,
    route: record.route,
    account: formatId('acct_', caller.accountId),
    key: caller.keyId === null ? null : formatId('key_', caller.keyId),
    requested_model: record.requestedModel,
    model: record.effectiveModel,
    host: record.host,
    attempts: record.attempts,
    tries: record.tries ?? undefined,
    stream: record.stream,
    status: record.status,
    ended: record.ended,
    error: record.errorCode,
    fault: record.fault ?? undefined,
    usage_source: record.usageSource,
    fresh_tokens: usage?.freshTokens,
    cache_read_tokens: usage?.cacheReadTokens,
    cache_write_tokens: usage === null ? undefined : usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    output_tokens: usage?.outputTokens,
    cost_nanousd: Number(record.costNanousd),
    held_nanousd: Number(record.heldNanousd),
    loss_nanousd: lossReason === null ? undefined : Number(record.lossNanousd),
    loss_reason: lossReason ?? undefined,
    held_after_ms: rounded(record.heldAfterMs),
    answered_after_ms: rounded(record.answeredAfterMs),
    settled_after_ms: rounded(record.settledAfterMs),
    total_ms: rounded(record.totalMs),
    msg: 'call',
  };
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 100) / 100;
}
