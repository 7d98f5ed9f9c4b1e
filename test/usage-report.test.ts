import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageCampaign } from '../campaigns/usage/campaign.ts';
import { idFloorAt } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import type { UsageFilter, UsageQuery, UsageReport } from '../src/store/usage-report.ts';
import { FIRST_MS, type MonthSubject, openAccounts, openSubject } from './month-subject.ts';
import { aHold, aSettle } from './store-fixtures.ts';

const DAY_MS = 86_400_000;
const ANY: UsageFilter = { accountId: null, keyId: null, personId: null, model: null, route: null, host: null };
const QUERY: UsageQuery = {
  ...{ sinceMs: FIRST_MS, untilMs: FIRST_MS + DAY_MS, bucket: 'none', groups: [], detail: null },
  ...{ filter: ANY, times: false },
};

/** Copies of a call with the ids after its own. */
async function copyCall({ engine, sql }: MonthSubject, id: bigint, count: number): Promise<void> {
  const [row = {}] = await sql(`SELECT * FROM call WHERE id = ${id}`);
  const columns = Object.keys(row).filter((column) => column !== 'id');
  const series = `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${count})`;
  await sql(
    `${series} INSERT INTO call (id, ${columns}) SELECT call.id + n, ${columns} FROM call, series WHERE call.id = ${id}`,
  );
  // As the writer lists calls of an account, many at a time.
  if (engine === 'sqlite') await sql(`INSERT INTO account_call SELECT account_id, id FROM call WHERE id > ${id}`);
}

describe.each(['sqlite', 'postgres'] as const)('usage reports on %s', (engine) => {
  let subject: MonthSubject;

  beforeEach(async () => {
    subject = await openSubject(engine);
  });
  afterEach(() => subject.dispose());

  const campaign = (count: number, queries: number, days: number): UsageCampaign => {
    const time = { sinceMs: FIRST_MS, untilMs: FIRST_MS + days * DAY_MS };
    return new UsageCampaign({ ...subject, ...time, count, queries, refunds: count / 100, seed: 7 });
  };

  test('equal the receipts, whether these are closed, not yet closed, or deleted', async () => {
    // `npm run campaign:usage` does the same with any number of receipts.
    const run = campaign(6_000, 12, 90);
    await run.begin();
    expect(await run.compare()).toEqual([]);
    await run.closeAll();
    expect(await run.compare()).toEqual([]);
    expect((await subject.store.verify()).violations).toEqual([]);
    const { forgotten } = await subject.store.closeBooks(FIRST_MS + 40.3 * DAY_MS);
    expect(forgotten).toBeGreaterThan(1_500);
    expect(await run.compare(10, 'sums')).toEqual([]);
    expect((await subject.store.verify()).violations).toEqual([]);
  });

  test('are added up again from receipts that an earlier version closed', async () => {
    const run = campaign(1_000, 10, 10);
    await run.begin();
    for (const table of ['usage_hour', 'usage_day', 'usage_state']) await subject.sql(`DELETE FROM ${table}`);
    expect(await run.compare()).toEqual([]);
    await run.closeAll();
    expect(await run.compare()).toEqual([]);
    expect((await subject.store.verify()).violations).toEqual([]);
  });

  test('rest on sums that ledger verify compares with the receipts, naming the hour that differs', async () => {
    const run = campaign(300, 0, 6);
    await run.begin();
    const [{ start_ms: startMs } = {}] = await subject.sql('SELECT max(start_ms) AS start_ms FROM usage_hour');
    const hour = `${new Date(Number(startMs)).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const day = hour.slice(0, 10);
    const changes: [change: string, back: string, finding: string][] = [
      [
        'output_tokens = output_tokens + 1',
        'output_tokens = output_tokens - 1',
        `Usage of the hour ${hour}: output_tokens is `,
      ],
      ['cost = cost - 1', 'cost = cost + 1', `Usage of the hour ${hour}: cost is `],
      ['duration_3 = duration_3 + 1', 'duration_3 = duration_3 - 1', `Usage of the hour ${hour}: duration_3 is `],
      ['route = route + 7', 'route = route - 7', `Usage of the hour ${hour}: receipts are missing in the sums`],
    ];
    for (const [change, back, finding] of changes) {
      await subject.sql(`UPDATE usage_hour SET ${change} WHERE start_ms = ${startMs}`);
      const { violations } = await subject.store.verify();
      expect(violations).toEqual([
        expect.stringContaining(finding),
        `Usage of the day ${day}: it is not the sum of its hours.`,
      ]);
      await subject.sql(`UPDATE usage_hour SET ${back} WHERE start_ms = ${startMs}`);
    }
    expect((await subject.store.verify()).violations).toEqual([]);
    await subject.sql(`DELETE FROM usage_hour WHERE start_ms = ${startMs}`);
    expect((await subject.store.verify()).violations).toContain(
      `Usage of the hour ${hour}: receipts are missing in the sums.`,
    );
    const withoutUsage = await subject.store.verify(undefined, null, false);
    expect(withoutUsage.violations).toEqual([]);
  });

  test("count callers' own deployments under their provider, before and after closing", async () => {
    await openAccounts(subject);
    const settled = Array.from({ length: 5 }, (_, at) => ({
      id: idFloorAt(FIRST_MS + at),
      effectiveModel: `own-${at}`,
    }));
    const given = { createdMs: FIRST_MS, route: '/v1/chat/completions' };
    await subject.store.apply(settled.map(({ id, effectiveModel }) => aHold(id, 0n, { ...given, effectiveModel })));
    await subject.store.apply(settled.map(({ id }, at) => aSettle(id, 0n, { host: at === 4 ? null : 'cloud' })));
    const byModel = async (model: string | null = null) => {
      const rows = await subject.store.usage.report({
        ...QUERY,
        groups: ['effective_model'],
        filter: { ...ANY, model },
      });
      return typeof rows === 'string' ? rows : rows.map((row) => [row.model, row.sums.requests]);
    };
    const check = async (): Promise<void> => {
      expect(await byModel()).toEqual([
        ['cloud', 4n],
        [null, 1n],
      ]);
      expect(await byModel('cloud')).toEqual([['cloud', 4n]]);
      expect(await byModel('own-1')).toEqual([]);
    };
    await check();
    subject.clock.advance(2 * LIMITS.closingAgeMs);
    expect((await subject.store.closeBooks(null)).closed).toBe(5);
    await check();
    expect((await subject.store.verify()).violations).toEqual([]);
    await subject.store.closeBooks(FIRST_MS + DAY_MS);
    await check();
    expect((await subject.store.verify()).violations).toEqual([]);
  });

  test('by label are not refused because of the receipts of others', async () => {
    await openAccounts(subject);
    const id = idFloorAt(FIRST_MS);
    const others = id + 1_000n;
    const given = { createdMs: FIRST_MS, labels: { team: 'search' } };
    for (const [call, accountId] of [[id, 1n] as const, [others, 2n] as const]) {
      await subject.store.apply([aHold(call, 10n, { ...given, accountId, keyId: accountId }), aSettle(call, 5n)]);
    }
    await copyCall(subject, others, LIMITS.usageReceiptsMax);
    const byTeam = async (filter: Partial<UsageFilter>) => {
      const detail = { kind: 'label', name: 'team' } as const;
      const rows = await subject.store.usage.report({ ...QUERY, detail, filter: { ...ANY, ...filter } });
      return typeof rows === 'string' ? rows : rows.map((row) => [row.detail, row.sums.requests]);
    };
    expect(await byTeam({ accountId: 1n })).toEqual([['search', 1n]]);
    expect(await byTeam({ accountId: 2n, keyId: 1n })).toEqual([]);
    expect(await byTeam({ accountId: 2n })).toBe('too_many_receipts');
    expect(await byTeam({})).toBe('too_many_receipts');
  });

  test('run one at a time for an account, however they are asked for, and a few wait', async () => {
    const report = (accountId: bigint | null): Promise<UsageReport> =>
      subject.store.usage.report({ ...QUERY, filter: { ...ANY, accountId } });
    const own = Array.from({ length: LIMITS.usageWaitingPerAccountMax + 3 }, () => report(1n));
    const reports = await Promise.all([...own, report(2n), report(null)]);
    expect(reports.map((each) => each === 'busy')).toEqual(
      reports.map((_, at) => at > LIMITS.usageWaitingPerAccountMax && at < own.length),
    );
  });

  test('of hours whose receipts were deleted are still compared by number and cost', async () => {
    const run = campaign(300, 0, 6);
    await run.begin();
    await subject.store.closeBooks(FIRST_MS + 4 * DAY_MS);
    expect((await subject.store.verify()).violations).toEqual([]);
    const [{ start_ms: startMs } = {}] = await subject.sql('SELECT min(start_ms) AS start_ms FROM usage_hour');
    await subject.sql(`UPDATE usage_hour SET requests = requests + 1 WHERE start_ms = ${startMs}`);
    expect((await subject.store.verify()).violations.join()).toContain('requests is 2, but its receipts add up to 1');
  });
});
