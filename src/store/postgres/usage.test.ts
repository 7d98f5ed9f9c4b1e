import pg from 'pg';
import { expect, test } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import type { UsageQuery } from '../usage-report.ts';
import { postgresUsage } from './usage.ts';

const QUERY: UsageQuery = {
  sinceMs: 0,
  untilMs: 3_600_000,
  bucket: 'none',
  groups: [],
  detail: null,
  filter: { accountId: 1n, keyId: null, personId: null, model: null, route: null, host: null },
  times: false,
};

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('canceling statement', 1, 'error'), { code });
}

/** A usage store whose statements all fail with this code, and the statements that began its transactions. */
function failing(code: string) {
  const begun: string[] = [];
  const usage = postgresUsage(
    {
      transaction: (run, begin = '') => {
        begun.push(begin);
        return run(() => Promise.reject(databaseError(code)));
      },
      query: () => Promise.reject(databaseError(code)),
    },
    new ManualClock(),
    () => 0,
  );
  return { usage, begun };
}

test('a report that PostgreSQL stopped at its time limit is too slow, and not a failure of the database', async () => {
  const { usage, begun } = failing('57014');
  expect(await usage.report(QUERY)).toBe('too_slow');
  expect(begun).toEqual([expect.stringContaining(`SET LOCAL statement_timeout = ${LIMITS.usageStatementMs}`)]);
});

test('any other error of a report is thrown', async () => {
  await expect(failing('42P01').usage.report(QUERY)).rejects.toMatchObject({ code: '42P01' });
});
