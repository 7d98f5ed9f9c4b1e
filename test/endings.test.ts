import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Receipt } from '../src/canonical/receipt.ts';
import { CLIENT_GONE_STATUS } from '../src/gateway/relay/attempt.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { parseId } from '../src/kit/ids.ts';
import { type PublicPricing, priceCounts, type TokenCounts } from './catalog-price.ts';
import { CLIENT_GONE } from './client-gone-scenarios.ts';
import {
  ANSWER_TOKENS,
  ASK,
  type Counts,
  type Driven,
  INFLATION,
  OUTPUT_LIMIT,
  PROMPT_TOKENS,
  SCENARIOS,
  type Scenario,
  STREAM_ASK,
  USAGE_FAULTS,
  WHEN_STOPPED,
} from './ending-scenarios.ts';
import { readEndings, readUsageRules } from './endings-page.ts';
import { type Harness, startHarness } from './harness.ts';
import { holdUp } from './ledger-gate.ts';
import { READ_TO_END } from './read-to-end-scenarios.ts';
import { STALLED } from './stalled-scenarios.ts';
import { StreamClient } from './stream-client.ts';

/** Every row of docs/endings.md over real HTTP: the ledger must match the page, to the nanodollar. */

const ENDINGS = readEndings();
const RULES = new Map(readUsageRules().map((rule) => [rule.counts, rule]));

const ALL_COUNTS = Object.keys(USAGE_FAULTS) as Counts[];

/** Rows that cannot happen in a mode, and why. */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  'upstream_error before_content, buffered': 'nothing leaves before the whole answer is here, so it is `failed`',
  'upstream_error after_content, buffered': 'as above',
  'timeout after_content, buffered': 'as above',
  'shutdown after_content, buffered': 'as above',
};

let fullText: string;

describe.each(['drain', 'cancel'] as const)('from a host to %s', (onClientGone) => {
  let clock: ManualClock;
  let harness: Harness;
  let pricing: PublicPricing;

  beforeAll(async () => {
    clock = new ManualClock(Date.UTC(2026, 10, 15));
    harness = await startHarness({ clock, row: { onClientGone } });
    ({ pricing } = await harness.catalogEntry('sim-gpt'));
    harness.sim.script({ words: ANSWER_TOKENS });
    fullText = (await harness.openai().chat.completions.create(ASK as never)).choices[0]!.message.content!;
  });
  beforeEach(() => harness.sim.reset());
  afterEach(async () => {
    harness.sim.reset();
    await harness.settled();
    await harness.expectCleanBooks();
    expect(harness.sim.openResponses()).toBe(0);
  });
  afterAll(() => harness.stop());

  const mine = [...SCENARIOS, ...CLIENT_GONE, ...STALLED].filter(
    (scenario) => (scenario.onClientGone ?? 'drain') === onClientGone,
  );
  describe.each(mine.map((each) => [each.row, each.mode, each.host, each] as const))(
    '%s, %s, host %s',
    (...[, , , scenario]) => {
      test.each(scenario.counts ?? ALL_COUNTS)('counts %s', async (counts) => {
        const { client } = await bringAbout(scenario, counts, harness, clock);
        await harness.settled();
        expectAsThePageSays(await harness.newestReceipt(), scenario, counts, client.content, pricing);
        client.leave();
      });
    },
  );
});

describe('with the loss allowance used up', () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 15));
  let harness: Harness;
  let pricing: PublicPricing;
  let headers: Record<string, string>;

  beforeAll(async () => {
    harness = await startHarness({ clock, limits: { hangupAllowanceNanousd: 0 } });
    ({ pricing } = await harness.catalogEntry('sim-gpt'));
    headers = { authorization: `Bearer ${(await harness.mint()).secret}` };
    // The gateway's own timers must not be mistaken for that of a client that reads nothing.
    clock.advance(1);
  });
  beforeEach(() => harness.sim.reset());
  afterEach(async () => {
    await harness.settled();
    await harness.expectCleanBooks();
  });
  afterAll(() => harness.stop());

  describe.each(READ_TO_END.map((each) => [each.row, each] as const))('%s', (_row, scenario) => {
    test.each(scenario.counts ?? ALL_COUNTS)('counts %s', async (counts) => {
      const { client } = await bringAbout(scenario, counts, harness, clock, headers);
      await harness.settled();
      const receipt = await harness.newestReceipt();
      expectAsThePageSays(receipt, scenario, counts, client.content, pricing);
      expect(receipt.hangupCharged).toBe(scenario.row.endsWith('stream_read_to_end') ? true : null);
    });
  });
});

async function bringAbout(
  scenario: Scenario,
  counts: Counts,
  harness: Harness,
  clock: ManualClock,
  headers: Record<string, string> = {},
): Promise<Driven> {
  harness.sim.script(scenario.script(counts), { times: 1 });
  const holdGate = scenario.holdsUp ? holdUp(harness.running, 'hold') : null;
  const reading = scenario.passedOn === undefined && !scenario.row.startsWith('stalled');
  const client = new StreamClient(harness.url, scenario.mode === 'streamed' ? STREAM_ASK : ASK, headers, { reading });
  const call = { harness, clock, client, holdGate };
  await scenario.drive(call);
  return call;
}

/** Computes the expected charge from the page, the public prices and what was observed, without any code of the product. */
function expectAsThePageSays(
  receipt: Receipt,
  scenario: Scenario,
  counts: Counts,
  seen: string,
  pricing: PublicPricing,
): void {
  const [ended, situation] = scenario.row.split(' ');
  const row = ENDINGS.find((each) => each.ended === ended && each.situation === situation)!;
  expect(receipt).toMatchObject({ state: 'settled', ended });
  expect(receipt.costNanousd).toBeLessThanOrEqual(receipt.heldNanousd);
  if (row.charge === 'nothing') {
    expect(receipt).toMatchObject({ usageSource: 'none', usage: null, costNanousd: 0n });
    expect(lossOf(receipt)).toEqual(lossUncharged(row.loss, receipt.heldNanousd, scenario, counts, pricing));
    return;
  }
  const known = scenario.known?.[counts] ?? counts;
  const rule = RULES.get(known)!;
  const source = scenario.drained && rule.usageSource === 'reported' ? 'drained' : rule.usageSource;
  const { total } = priceCounts(pricing, billedCounts(rule.charge, known, scenario, seen));
  const cost = rule.charge === 'hold' ? receipt.heldNanousd : total;
  expect({
    source: receipt.usageSource,
    cost: receipt.costNanousd,
    components: receipt.components === null ? 'null' : 'given',
    loss: receipt.lossReason ?? 'none',
  }).toEqual({ source, cost, components: rule.components, loss: rule.loss });
  expect(row.loss).toBe('usage');
  expect(receipt.lossNanousd).toBe(lossBeyond(rule.charge, known, receipt, scenario, pricing));
  if (receipt.components !== null) {
    expect(Object.values(receipt.components).reduce((sum, one) => sum + one, 0n)).toBe(receipt.costNanousd);
  }
}

const lossOf = ({ lossNanousd, lossReason }: Receipt) => ({ lossNanousd, lossReason });

/** The loss where nothing is charged: the hold of one host, unless it refused to work or had counted by then. */
function lossUncharged(loss: string, held: bigint, scenario: Scenario, counts: Counts, pricing: PublicPricing) {
  const known = scenario.counted === undefined ? 'missing' : (scenario.known?.[counts] ?? counts);
  if (loss === 'none' || scenario.refused === true || known === 'zero') return { lossNanousd: 0n, lossReason: null };
  if (known === 'unusable') return { lossNanousd: held, lossReason: 'host_usage_unusable' };
  const lossReason = 'host_may_bill_uncharged_work';
  if (known !== 'reported' && known !== 'too_much') return { lossNanousd: held, lossReason };
  const factor = known === 'too_much' ? INFLATION : 1;
  const told = { cacheRead: 0, cacheWrite: 0, fresh: PROMPT_TOKENS * factor, output: scenario.counted! * factor };
  return { lossNanousd: priceCounts(pricing, told).total, lossReason };
}

/** The loss beyond a charge. */
function lossBeyond(
  charge: string,
  known: Counts,
  { heldNanousd, costNanousd }: Receipt,
  scenario: Scenario,
  pricing: PublicPricing,
): bigint {
  const output = scenario.counted ?? ANSWER_TOKENS;
  if (charge === 'counts') return 0n;
  if (charge === 'estimate') return heldNanousd - costNanousd;
  const most =
    known === 'partial'
      ? { fresh: PROMPT_TOKENS, output: OUTPUT_LIMIT }
      : { fresh: PROMPT_TOKENS * INFLATION, output: output * INFLATION };
  return priceCounts(pricing, { cacheRead: 0, cacheWrite: 0, ...most }).total - costNanousd;
}

function streamedText({ readToEnd, passedOn }: Scenario, seen: string): string {
  return readToEnd === 'whole answer' ? fullText : (readToEnd ?? passedOn ?? seen);
}

function wholeText({ row }: Scenario): string {
  return row.endsWith('cancelled') ? '' : fullText;
}

function billedCounts(charge: string, known: Counts, scenario: Scenario, seen: string): TokenCounts {
  const cached = { cacheRead: 0, cacheWrite: 0 };
  // Of a buffered answer that nobody waited for, everything that arrived counts; of a stream, what was passed on.
  const text = scenario.mode === 'streamed' ? streamedText(scenario, seen) : wholeText(scenario);
  const estimate = Math.min(Math.ceil(Buffer.byteLength(text) / 4), OUTPUT_LIMIT);
  if (charge === 'estimate') return { ...cached, fresh: Math.ceil('hello'.length / 4), output: estimate };
  // An early count covers the first word.
  if (charge === 'partial_counts') return { ...cached, fresh: PROMPT_TOKENS, output: Math.max(1, estimate) };
  if (known === 'zero') return { ...cached, fresh: 0, output: 0 };
  return { ...cached, fresh: PROMPT_TOKENS, output: scenario.counted ?? ANSWER_TOKENS };
}

describe('when the gateway is stopped', () => {
  test('calls end as the page says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-stopped-'));
    const clock = new ManualClock(Date.UTC(2026, 10, 15));
    const harness = await startHarness({ clock, folder });
    const { pricing } = await harness.catalogEntry('sim-gpt');
    const calls: { scenario: Scenario; counts: Counts; client: StreamClient }[] = [];
    for (const scenario of WHEN_STOPPED) {
      for (const counts of ALL_COUNTS) {
        const { client } = await bringAbout(scenario, counts, harness, clock);
        calls.push({ scenario, counts, client });
        await harness.sim.waitForCalls(calls.length);
      }
    }
    const stopped = harness.running.stop();
    clock.advance(harness.shutdownMs);
    await stopped;
    await harness.sim.close();
    await inNextLife(folder, clock, async (next) => {
      expect(next.running.voidedHolds).toBe(0);
      for (const { scenario, counts, client } of calls) {
        const receipt = await next.running.books.store.findReceipt(parseId('req_', client.requestId)!, null);
        expectAsThePageSays(receipt!, scenario, counts, client.content, pricing);
      }
    });
  });
});

/** Their calls wait at the host when the process is gone. */
const WHEN_IT_DIES = (['buffered', 'streamed'] as const).map((mode) => ({ row: 'died any', mode }));

describe('when the gateway dies', () => {
  test('holds are given back whole at the next start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-died-'));
    const clock = new ManualClock(Date.UTC(2026, 10, 15));
    const harness = await startHarness({ clock, folder: join(folder, 'first') });
    harness.sim.script({ gateHead: 'head' }, { times: 1 });
    harness.sim.script({ gate: 'chunk', words: ANSWER_TOKENS });
    const buffered = new StreamClient(harness.url, ASK);
    await harness.sim.waitForGate('head', 1);
    const streamed = new StreamClient(harness.url, STREAM_ASK);
    await harness.sim.waitForGate('chunk', 1);
    harness.sim.release('chunk', 3);
    await streamed.has(({ content }) => content !== '', 'the first word');
    // The files on disk at this moment are what a killed process leaves behind.
    const corpse = join(folder, 'second');
    cpSync(join(folder, 'first'), corpse, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    await inNextLife(corpse, clock, async (next) => {
      expect(next.running.voidedHolds).toBe(2);
      const receipts = await next.running.books.store.listReceipts(
        { accountId: null, keyId: null, sinceMs: null },
        { limit: 10, after: null },
      );
      for (const receipt of receipts) {
        expect(receipt).toMatchObject({ state: 'voided', ended: 'died', costNanousd: 0n, usageSource: 'none' });
        expect(receipt.lossNanousd).toBe(receipt.heldNanousd);
      }
      expect(receipts.map(({ stream }) => stream).toSorted()).toEqual([false, true]);
      expect(ENDINGS.find((row) => row.ended === 'died')).toMatchObject({
        situation: 'any',
        charge: 'void',
        loss: 'hold',
      });
    });
    harness.sim.release('head');
    harness.sim.release('chunk', 100);
    await buffered.end();
    await streamed.end();
    await harness.settled();
    await harness.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});

async function inNextLife(folder: string, clock: ManualClock, look: (next: Harness) => Promise<void>): Promise<void> {
  const next = await startHarness({ clock, folder });
  await next.expectCleanBooks();
  await look(next);
  await next.stop();
  rmSync(folder, { recursive: true, force: true });
}

describe('the page', () => {
  const all = [...SCENARIOS, ...CLIENT_GONE, ...READ_TO_END, ...STALLED, ...WHEN_STOPPED, ...WHEN_IT_DIES];
  const cases = new Set(all.map(({ row, mode }) => `${row}, ${mode}`));

  test('has a case for every row, in every mode in which it can happen', () => {
    const wanted = ENDINGS.flatMap(({ ended, situation }) =>
      modesOf(situation).map((mode) => `${ended} ${situation}, ${mode}`),
    );
    expect(wanted.filter((each) => !cases.has(each) && IMPOSSIBLE[each] === undefined)).toEqual([]);
    expect([...cases].filter((each) => !wanted.includes(each))).toEqual([]);
  });

  test('names the status of a receipt whose caller left', () => {
    expect(readFileSync(new URL('../docs/endings.md', import.meta.url), 'utf8')).toContain(` ${CLIENT_GONE_STATUS} `);
  });

  test('has a rule for everything a host can say about its counts', () => {
    expect([...RULES.keys()].toSorted()).toEqual(Object.keys(USAGE_FAULTS).toSorted());
  });
});

function modesOf(situation: string): string[] {
  if (situation.startsWith('stream_')) return ['streamed'];
  return situation.startsWith('buffered_') ? ['buffered'] : ['buffered', 'streamed'];
}
