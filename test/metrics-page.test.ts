import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LOSS_REASONS, VOID_REASONS } from '../src/canonical/loss-reasons.ts';
import { ENDINGS } from '../src/canonical/receipt.ts';
import { type ExchangeRecord, openRecord } from '../src/gateway/exchange-record.ts';
import { Metrics } from '../src/http/metrics.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { ALERT_KINDS } from '../src/store/alerts.ts';

/** docs/metrics.md is compared with the text that /metrics answers: names, types and labels. */

const PAGE = readFileSync(new URL('../docs/metrics.md', import.meta.url), 'utf8');

interface Metric {
  readonly type: string;
  readonly labels: readonly string[];
}

const ROWS: ReadonlyMap<string, Metric> = new Map(
  [...PAGE.matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) ?\| .+ \|$/gm)].map(([, name, type, labels]) => [
    name!,
    { type: type!, labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!).toSorted() },
  ]),
);

const USAGE = {
  freshTokens: 1,
  cacheReadTokens: 1,
  cacheWriteTokens: 1,
  cacheWrite1hTokens: 1,
  outputTokens: 1,
  reasoningTokens: 0,
};

/** A call that touches every counter: charged, with a loss, after a retry. */
function recordOfEverything(): ExchangeRecord {
  const call = {
    requestId: 'req_1',
    route: '/v1/chat/completions',
    caller: { accountId: 1n, key: null },
    startedMs: 0,
  };
  return {
    ...openRecord(call as unknown as Parameters<typeof openRecord>[0]),
    effectiveModel: 'a-model',
    status: 200,
    ended: 'complete',
    usage: USAGE,
    lossReason: LOSS_REASONS[0],
    lossNanousd: 1n,
    heldAfterMs: 1,
    tries: ['one', 'two', 'three'].map((host) => ({ host, outcome: 'failed', ms: 1 })),
  };
}

async function metricsText(): Promise<string> {
  const metrics = new Metrics({
    callsUnderWay: () => 1,
    ledgerDepth: () => 1,
    hostConnections: () => 1,
    clientConnections: () => 1,
    clientConnectionsClosed: () => 1,
    bodyBytes: () => 1,
    timerErrors: () => 1,
    eventLoopLagMs: () => 1,
    logLinesDropped: () => 1,
    books: {
      sums: async () => ({
        balanceNanousd: 1n,
        heldNanousd: 1n,
        reservedNanousd: 1n,
        openAlerts: 1,
        waitingDeliveries: 1,
      }),
      clock: new ManualClock(),
    },
    jobs: {
      sums: async () => ({ waiting: 1, running: 1, paused: 1, storedBytes: 1, oldestDueMs: 0 }),
      clock: new ManualClock(),
    },
    payers: { perAccount: true, perKey: true },
    spansDropped: () => 1,
    caches: async () => [{ cache: 'keys', entries: 1, entriesMax: 2 }],
    hosts: () => [{ host: 'one', state: 'well', firstByteMs: 1 }],
  });
  metrics.observe(recordOfEverything());
  metrics.observe({ ...recordOfEverything(), ended: 'refused', errorCode: 'model_not_found' });
  metrics.turnedAway('rate');
  metrics.notices.alertRaised('balance');
  metrics.jobs.ended({ state: 'succeeded', waitedMs: 1, ranMs: 1 });
  metrics.notices.webhookAttempt('delivered');
  metrics.signIn('failed');
  metrics.hosts.ejected('one', 'failures');
  metrics.hosts.returned('one');
  metrics.hosts.refused('one', 'key');
  return metrics.text();
}

function labelsOf(text: string, name: string): string[] {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`));
  expect(line, `${name} has no value here: let metricsText() count something for it.`).toBeDefined();
  return [...line!.matchAll(/(\w+)="/g)].map(([, label]) => label!).toSorted();
}

const text = await metricsText();
const DECLARED = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => ({ name: name!, type: type! }));
const OURS = DECLARED.filter(({ name }) => name.startsWith('tollgate_'));

test('docs/metrics.md has a row for every metric, and no row for anything else', () => {
  expect([...ROWS.keys()].toSorted()).toEqual(OURS.map(({ name }) => name).toSorted());
});

test('counters that alerts watch begin at zero, because Prometheus sees no increase in a first value', () => {
  for (const reason of LOSS_REASONS.slice(1))
    expect(text).toContain(`tollgate_loss_nanousd_total{reason="${reason}"} 0\n`);
  expect(text).toContain('tollgate_host_refusals_total{host="one",kind="request"} 0\n');
  expect(text).toContain('tollgate_host_ejections_total{host="one",cause="overruns"} 0\n');
  expect(text).toContain('tollgate_webhook_deliveries_total{outcome="given_up"} 0\n');
});

test('metrics of other names are the standard ones of a Node process', () => {
  expect(DECLARED.filter(({ name }) => !/^(tollgate|process|nodejs)_/.test(name))).toEqual([]);
});

test.each(OURS)('$name has the type and the labels that docs/metrics.md gives', ({ name, type }) => {
  const sample = type === 'histogram' ? `${name}_count` : name;
  expect(ROWS.get(name)).toEqual({ type, labels: labelsOf(text, sample) });
});

test('docs/metrics.md names every value of a label that is a closed set', () => {
  const states = [...text.matchAll(/^tollgate_host_state\{.*state="(\w+)"/gm)].map(([, state]) => state!);
  const kinds = [...text.matchAll(/^tollgate_tokens_total\{.*kind="(\w+)"/gm)].map(([, kind]) => kind!);
  const retries = [...text.matchAll(/^tollgate_host_retries_total\{.*retry="(\w+)"/gm)].map(([, retry]) => retry!);
  expect([states.length, kinds.length, retries.length]).toEqual([5, 4, 2]);
  const values = [
    ...ALERT_KINDS,
    'delivered',
    'retried',
    'given_up',
    ...ENDINGS,
    ...LOSS_REASONS,
    ...states,
    ...kinds,
    ...retries,
  ];
  expect(values.filter((value) => !PAGE.includes(`\`${value}\``))).toEqual([]);
  const endings = readFileSync(new URL('../docs/endings.md', import.meta.url), 'utf8');
  expect([...LOSS_REASONS, ...VOID_REASONS].filter((reason) => !endings.includes(`| \`${reason}\` |`))).toEqual([]);
});

test('the alerts of docs/metrics.md ask only for metrics that exist', () => {
  const asked = [...PAGE.matchAll(/^ +expr: (.*)$/gm)].flatMap(
    ([, expression]) => expression!.match(/tollgate_\w+/g) ?? [],
  );
  expect(asked.length).toBeGreaterThan(5);
  const known = OURS.flatMap(({ name }) => [name, `${name}_bucket`]);
  expect(asked.filter((name) => !known.includes(name))).toEqual([]);
});

describe('series of single accounts and keys', () => {
  const sums = async () => ({
    balanceNanousd: 1n,
    heldNanousd: 1n,
    reservedNanousd: 1n,
    openAlerts: 1,
    waitingDeliveries: 1,
  });
  const build = (payers: { perAccount: boolean; perKey: boolean }, read = sums) => {
    const zero = () => 0;
    const zeros = ['callsUnderWay', 'ledgerDepth', 'hostConnections', 'clientConnections', 'clientConnectionsClosed'];
    const more = ['bodyBytes', 'timerErrors', 'eventLoopLagMs', 'logLinesDropped', 'spansDropped'];
    const sources = Object.fromEntries([...zeros, ...more].map((name) => [name, zero]));
    const books = { sums: read, clock: new ManualClock() };
    const jobs = { sums: () => Promise.reject(new Error('away')), clock: new ManualClock() };
    const caches = async () => [];
    return new Metrics({ ...sources, hosts: () => [], books, jobs, payers, caches } as unknown as ConstructorParameters<
      typeof Metrics
    >[0]);
  };

  test('are not there unless they are asked for', async () => {
    const metrics = build({ perAccount: false, perKey: false });
    metrics.observe(recordOfEverything());
    expect(await metrics.text()).not.toMatch(/tollgate_(account|key)_/);
  });

  test('are bounded: accounts beyond the most are counted together, and no call is lost', async () => {
    const metrics = build({ perAccount: true, perKey: false });
    const beyond = 7;
    for (let id = 1; id <= LIMITS.payerSeriesMax + beyond; id++)
      metrics.observe({ ...recordOfEverything(), caller: { accountId: BigInt(id), keyId: null, key: null } });
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('tollgate_account_calls_total{'));
    expect(lines).toHaveLength(LIMITS.payerSeriesMax + 1);
    expect(lines).toContain(`tollgate_account_calls_total{account="other"} ${beyond}`);
  });

  test('models beyond the limit of series are counted together, and no token is lost', async () => {
    const metrics = build({ perAccount: false, perKey: false });
    const beyond = 3;
    for (let at = 0; at < LIMITS.modelSeriesMax + beyond; at++)
      metrics.observe({ ...recordOfEverything(), effectiveModel: `model-${at}` });
    expect(metrics.models).toBe(LIMITS.modelSeriesMax);
    expect(await metrics.text()).toContain(`tollgate_tokens_total{model="other",kind="output"} ${beyond}\n`);
  });

  test('a store that cannot be read leaves its sums out, and the rest is there', async () => {
    const metrics = build({ perAccount: false, perKey: false }, () => Promise.reject(new Error('away')));
    const answered = await metrics.text();
    expect(answered).not.toMatch(/^tollgate_balance_nanousd \d/m);
    expect(answered).toMatch(/^tollgate_calls_under_way 0$/m);
  });
});
