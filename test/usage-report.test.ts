import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageCampaign } from '../campaigns/usage/campaign.ts';
import { LIMITS } from '../src/limits.ts';
import type { UsageReport } from '../src/store/usage-report.ts';
import { FIRST_MS, type MonthSubject, openSubject } from './month-subject.ts';

const DAY_MS = 86_400_000;

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
    const run = campaign(20_000, 20, 90);
    await run.begin();
    expect(await run.compare()).toEqual([]);
    await run.closeAll();
    expect(await run.compare()).toEqual([]);
    expect((await subject.store.verify()).violations).toEqual([]);
    const { forgotten } = await subject.store.closeBooks(FIRST_MS + 40.3 * DAY_MS);
    expect(forgotten).toBeGreaterThan(5_000);
    expect(await run.compare(10, 'sums')).toEqual([]);
    expect((await subject.store.verify()).violations).toEqual([]);
  }, 120_000);

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
  });

  test('run one at a time for an account, however they are asked for, and a few wait', async () => {
    const none = { accountId: null, keyId: null, personId: null, model: null, route: null, host: null };
    const query = { sinceMs: FIRST_MS, untilMs: FIRST_MS + DAY_MS, bucket: 'none', groups: [], detail: null } as const;
    const report = (accountId: bigint | null): Promise<UsageReport> =>
      subject.store.usage.report({ ...query, filter: { ...none, accountId }, times: false });
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
