import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { idFloorAt } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import type { Refusal, RefusalFilter, RefusalPage } from '../src/store/refusals.ts';
import { FIRST_MS, type MonthSubject, openAccounts, openSubject } from './month-subject.ts';

const ANY: RefusalFilter = {
  id: null,
  accountId: null,
  keyId: null,
  personId: null,
  model: null,
  code: null,
  sinceMs: null,
  untilMs: null,
};
const ALL = { limit: 10_000, after: null };
const DAY_MS = 86_400_000;

function refusal(number: number, over: Partial<Refusal> = {}): Refusal {
  return {
    id: idFloorAt(FIRST_MS + number),
    accountId: 1n,
    keyId: 1n,
    atMs: FIRST_MS + number,
    route: '/v1/chat/completions',
    model: 'model',
    status: 402,
    code: 'insufficient_allowance',
    message: 'The balance leaves $0.',
    worstNanousd: 12_345_678_901_234n,
    availableNanousd: 0n,
    ...over,
  };
}

describe.each(['sqlite', 'postgres'] as const)('refused calls on %s', (engine) => {
  let subject: MonthSubject;

  beforeEach(async () => {
    subject = await openSubject(engine);
    await openAccounts(subject);
  });
  afterEach(() => subject.dispose());

  const note = (rows: Refusal[]): Promise<void> => subject.store.usage.noteRefusals({ counts: [], rows, prunes: true });
  const list = (filter: Partial<RefusalFilter> = {}, page: RefusalPage = ALL) =>
    subject.store.usage.listRefusals({ ...ANY, ...filter }, page);

  test('are found by request id, account, key, model, code and time, the newest first', async () => {
    const other = refusal(3, {
      accountId: 2n,
      keyId: null,
      model: null,
      code: 'rate_limit_exceeded',
      status: 429,
      worstNanousd: null,
      availableNanousd: null,
    });
    await note([refusal(1), refusal(2), other]);
    expect(await list()).toEqual([other, refusal(2), refusal(1)]);
    expect(await list({ model: 'model' })).toEqual([refusal(2), refusal(1)]);
    expect(await list({ model: 'another' })).toEqual([]);
    expect(await list({ id: refusal(1).id })).toEqual([refusal(1)]);
    expect(await list({ accountId: 2n })).toEqual([other]);
    expect(await list({ keyId: 1n })).toHaveLength(2);
    expect(await list({ code: 'rate_limit_exceeded' })).toEqual([other]);
    expect(await list({ sinceMs: FIRST_MS + 2, untilMs: FIRST_MS + 3 })).toEqual([refusal(2)]);
    expect(await list({}, { limit: 1, after: other.id })).toEqual([refusal(2)]);
    expect(await list({ personId: 5n })).toEqual([]);
  });

  test('of one account never displace those of others, and its oldest are dropped first', async () => {
    const others = [refusal(0, { accountId: 2n, keyId: 2n }), refusal(10_000, { accountId: 3n, keyId: 3n })];
    await note(others);
    const flood = LIMITS.refusalsPerAccountMax + 300;
    for (let from = 0; from < flood; from += 400) {
      await note(Array.from({ length: Math.min(400, flood - from) }, (_, at) => refusal(1 + from + at)));
    }
    const own = await list({ accountId: 1n });
    expect(own).toHaveLength(LIMITS.refusalsPerAccountMax);
    expect(own.at(-1)).toEqual(refusal(301));
    expect(await list({ accountId: 2n })).toEqual([others[0]]);
    expect(await list({ accountId: 3n })).toEqual([others[1]]);
  });

  test('of all accounts have a maximum, beyond which the oldest are dropped when it is asked for', async () => {
    await note([refusal(0)]);
    const { id } = refusal(0);
    const columns = 'at_ms, route, model, status, code, message, worst, available';
    // No account has more than its quota.
    await subject.sql(
      `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${LIMITS.refusalsMax})
       INSERT INTO refusal (id, account_id, key_id, ${columns}) SELECT id + n, 100 + n % 200, 0, ${columns} FROM refusal, series`,
    );
    const rows = async (): Promise<number> => Number((await subject.sql('SELECT count(*) AS n FROM refusal'))[0]!.n);
    await subject.store.usage.noteRefusals({ counts: [], rows: [refusal(1)], prunes: false });
    expect(await rows()).toBe(LIMITS.refusalsMax + 2);
    await note([refusal(2)]);
    expect(await rows()).toBe(LIMITS.refusalsMax);
    expect(await list({ id })).toEqual([]);
    expect(await list({ id: refusal(2).id })).toEqual([refusal(2)]);
  });

  test('are kept for 7 days', async () => {
    await note([refusal(0), refusal(2 * DAY_MS)]);
    subject.clock.advance(8 * DAY_MS);
    await note([refusal(8 * DAY_MS)]);
    expect((await list()).map(({ atMs }) => atMs - FIRST_MS)).toEqual([8 * DAY_MS, 2 * DAY_MS]);
  });

  test('are counted by hour and key, and reports of accounts and keys have the sums', async () => {
    const count = { startMs: FIRST_MS, accountId: 1n, keyId: 1n, code: 'insufficient_allowance', refused: 5 };
    const later = { ...count, startMs: FIRST_MS + 3_600_000, code: 'rate_limit_exceeded', refused: 2 };
    const { usage } = subject.store;
    await usage.noteRefusals({ counts: [count, later], rows: [], prunes: false });
    await usage.noteRefusals({ counts: [count, { ...count, accountId: 2n, keyId: null }], rows: [], prunes: false });
    const filter = { accountId: null, keyId: null, personId: null, model: null, route: null, host: null };
    const query = { sinceMs: FIRST_MS, untilMs: FIRST_MS + DAY_MS, detail: null, filter, times: false } as const;
    const report = async (groups: readonly ('account_id' | 'key_id' | 'route')[], bucket: 'hour' | 'none' = 'none') => {
      const rows = await usage.report({ ...query, groups, bucket });
      return typeof rows === 'string' ? rows : rows.map((row) => [row.startMs, row.accountId, row.keyId, row.refused]);
    };
    expect(await report([])).toEqual([[null, null, null, 17n]]);
    expect(await report(['account_id', 'key_id'])).toEqual(
      expect.arrayContaining([
        [null, 1n, 1n, 12n],
        [null, 2n, null, 5n],
      ]),
    );
    expect(await report([], 'hour')).toEqual([
      [FIRST_MS, null, null, 15n],
      [FIRST_MS + 3_600_000, null, null, 2n],
    ]);
    expect(await report(['route'])).toEqual([]);
  });
});
