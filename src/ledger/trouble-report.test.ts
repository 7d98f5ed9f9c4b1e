import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { type Trouble, TroubleReport } from './trouble-report.ts';

describe('the report of trouble', () => {
  const LOCKED = new Error('database is locked');
  let clock: ManualClock;
  let reported: [Trouble, unknown][];
  let report: TroubleReport;

  beforeEach(() => {
    clock = new ManualClock();
    reported = [];
    report = new TroubleReport(clock, (trouble, why) => void reported.push([trouble, why]));
  });

  async function fail(): Promise<void> {
    await expect(report.ofCommit(Promise.reject(LOCKED))).rejects.toBe(LOCKED);
  }

  it('says once why commits fail, and once that they succeed again', async () => {
    for (let commit = 0; commit < 3; commit++) await fail();
    expect(reported).toEqual([['writing', LOCKED]]);
    clock.advance(LIMITS.storeHealthMs);
    for (let commit = 0; commit < 3; commit++) expect(await report.ofCommit(Promise.resolve(7))).toBe(7);
    await fail();
    expect(reported).toEqual([
      ['writing', LOCKED],
      ['writing', null],
      ['writing', LOCKED],
    ]);
  });

  it('does not say that the ledger can be written because the store is healthy', async () => {
    await fail();
    clock.advance(LIMITS.storeHealthMs);
    expect(report.ofHealth(null)).toBeNull();
    expect(reported).toEqual([['writing', LOCKED]]);
  });

  it('does not report every change of a store that fails now and then', async () => {
    for (let commit = 0; commit < 100; commit++) {
      await fail();
      await report.ofCommit(Promise.resolve());
      clock.advance(100);
    }
    expect(reported).toEqual([['writing', LOCKED]]);
  });

  it('says why the store allows no new calls, while commits go on', async () => {
    expect(report.ofHealth('The disk is nearly full.')).toBe('The disk is nearly full.');
    await report.ofCommit(Promise.resolve());
    clock.advance(LIMITS.storeHealthMs);
    report.ofHealth(null);
    expect(reported).toEqual([
      ['admitting', 'The disk is nearly full.'],
      ['admitting', null],
    ]);
  });
});
