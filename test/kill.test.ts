import { beforeAll, describe, expect, test } from 'vitest';
import { type Campaign, killCampaign } from '../campaigns/kill/campaign.ts';
import { CLIENTS, IN_FLIGHT_MIN, MOMENTS } from '../campaigns/kill/moments.ts';
import { seedFrom } from './random.ts';

const CYCLES = MOMENTS.length;
const SEED = seedFrom(process.env, 15);

/** The real program, killed without warning under load; `npm run campaign:kill` does the same for as long as you like. */
describe(`${CYCLES} times kill -9 (TOLLGATE_SEED=${SEED})`, () => {
  let campaign: Campaign;

  beforeAll(async () => {
    campaign = await killCampaign({ cycles: CYCLES, seed: SEED });
  });

  test('leaves every receipt whose last byte was seen, charges nothing twice, and no hold stays open', () => {
    expect(campaign.cycles.flatMap(({ faults }) => faults)).toEqual([]);
    expect(campaign.cycles.reduce((sum, { seen }) => sum + seen, 0)).toBeGreaterThan(0);
  });

  test('hits at least twenty calls each time, about half of them streams', () => {
    for (const { inFlight, streamsInFlight } of campaign.cycles) {
      expect(inFlight).toBeGreaterThanOrEqual(IN_FLIGHT_MIN);
      // Those that had their last byte may all have been streams.
      expect(streamsInFlight).toBeGreaterThanOrEqual(CLIENTS / 2 - (CLIENTS - IN_FLIGHT_MIN));
    }
  });

  test('falls at every moment of the plan, and between hold and settle where it means to', () => {
    expect(new Set(campaign.cycles.map(({ moment }) => moment)).size).toBe(MOMENTS.length);
    const held = campaign.cycles.filter(({ moment }) => moment === 'while every host is held back');
    expect(held.map(({ voided }) => voided)).toEqual(held.map(() => CLIENTS));
  });

  test('leaves books that the operator’s own command finds exact', () => {
    expect(campaign.verdict).toEqual({ code: 0, text: expect.stringContaining('The ledger is exact.') });
  });
});
