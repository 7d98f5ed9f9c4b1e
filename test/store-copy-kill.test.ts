import { expect, it } from 'vitest';
import { copyCampaign } from '../campaigns/copy/campaign.ts';
import { freshSchema } from './postgres.ts';

const RECEIPTS = 10_000;

it(`${RECEIPTS} receipts, copied by the command, killed half-way and run again, are the same in both stores`, async () => {
  const campaign = await copyCampaign({ receipts: RECEIPTS, url: await freshSchema() });
  expect(campaign.saidBeforeKill).toContain('copying: 50 %');
  expect(campaign.callsAtKill).toBeGreaterThan(0);
  expect(campaign.callsAtKill).toBeLessThan(RECEIPTS);
  expect(campaign.answer).toMatchObject({ ok: true, start: 'resumed', receipts: campaign.receipts, faults: [] });
  expect(campaign.receipts).toBeGreaterThan(RECEIPTS * 0.99);
  expect(campaign.differences).toEqual([]);
});
