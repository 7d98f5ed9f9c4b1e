import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

test('verify exits with 1 and prints every violation if the ledger does not balance', async () => {
  expect(await cli.run(['ledger', 'verify'])).toMatchObject({ code: 0, err: 'The ledger is exact.\n' });
  const report = await cli.store.verify();
  vi.spyOn(cli.store, 'verify').mockImplementation(async (progress) => {
    for (let rowsRead = 0; rowsRead <= 100; rowsRead++) progress?.({ rowsRead, rowsTotal: 100 });
    return { ...report, violations: ['Account 7 is off by 1.'] };
  });
  const wrong = await cli.run(['ledger', 'verify']);
  expect(wrong.code).toBe(EXIT.no);
  expect(wrong.err).toContain('Account 7 is off by 1.');
  expect(wrong.err.match(/% of 100 rows/g)).toHaveLength(9);
  expect((await cli.run(['ledger', 'verify', '--json'])).code).toBe(EXIT.no);
});

test('verify says which closed months it left out with --since, and refuses what is not a month', async () => {
  const part = await cli.run(['ledger', 'verify', '--since', '2026-05']);
  expect(part).toMatchObject({
    code: 0,
    err: 'The ledger is exact. Closed months before 2026-05 were not recomputed.\n',
  });
  expect(part.out).toMatch(/closed months +0 recomputed from 0 receipts; those before 2026-05 were not recomputed/);
  expect(await cli.json(['ledger', 'verify', '--since', '2026-05'])).toMatchObject({ ok: true, since: '2026-05' });
  expect(await cli.json(['ledger', 'verify'])).toMatchObject({
    closed_months: 0,
    closed_receipts: 0,
    since: null,
    not_kept: 0,
  });
  for (const month of ['2026-13', '2026-5', 'may']) {
    expect(await cli.run(['ledger', 'verify', '--since', month])).toMatchObject({
      code: EXIT.usage,
      err: expect.stringContaining(`--since must be a month like 2026-05, not "${month}".`),
    });
  }
});

test('verify shows receipts that are not kept or not hashed yet', async () => {
  const report = await cli.store.verify();
  vi.spyOn(cli.store, 'verify').mockResolvedValue({ ...report, notKept: 3, withoutTree: 1 });
  const { code, out } = await cli.run(['ledger', 'verify']);
  expect(code).toBe(EXIT.ok);
  expect(out).toMatch(/not kept +3 receipts, archived or deleted because of age/);
  expect(out).toMatch(/not hashed yet +1 closed receipt$/m);
});
