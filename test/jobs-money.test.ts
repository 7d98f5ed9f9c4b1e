import { expect, test } from 'vitest';
import { moneyCampaign } from '../campaigns/jobs/money.ts';
import { seedFrom } from './random.ts';

const JOBS = 1_000;
const SEED = seedFrom(process.env, 15);

test(`${JOBS} jobs of 200 accounts leave exact books, whatever becomes of them (TOLLGATE_SEED=${SEED})`, async () => {
  const report = await moneyCampaign({ jobs: JOBS, accounts: 200, seed: SEED });
  expect(report.faults).toEqual([]);
  expect(report.priceVersions).toBeGreaterThan(2);
  for (const state of ['succeeded', 'failed', 'cancelled', 'expired'])
    expect(report.states.get(state)).toBeGreaterThan(0);
  expect([...report.refused.keys()].toSorted()).toEqual([
    'cost_ceiling_exceeded',
    'insufficient_allowance',
    'key_spend_cap_exceeded',
  ]);
});
