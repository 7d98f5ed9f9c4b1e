import { expect, test } from 'vitest';
import { jobKillCampaign } from '../campaigns/jobs/kill.ts';
import { KILL_POINTS } from '../campaigns/jobs/points.ts';
import { seedFrom } from './random.ts';

const SEED = seedFrom(process.env, 15);

/** `npm run campaign:jobs -- --kills N` does the same for as long as you like. */
test(`jobs survive kill -9 at each point of their life (TOLLGATE_SEED=${SEED})`, async () => {
  const report = await jobKillCampaign({ kills: KILL_POINTS.length, seed: SEED });
  expect(report.faults).toEqual([]);
  expect(report.kills.filter(({ isHit }) => isHit)).toHaveLength(KILL_POINTS.length);
  expect(report.states.get('fail: failed')).toBeGreaterThan(0);
  expect(report.states.get('retry: succeeded')).toBeGreaterThan(0);
});
