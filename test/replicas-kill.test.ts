import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crashCampaign } from '../campaigns/replicas/crash-campaign.ts';
import { killCampaign } from '../campaigns/replicas/kill-campaign.ts';
import { IN_REAPER, MOMENTS } from '../campaigns/replicas/moments.ts';
import { World } from '../campaigns/replicas/world.ts';
import { Random, seedFrom } from './random.ts';

const SEED = seedFrom(process.env, 20);
const KILLS = 12;
const CRASHES = 2;

/** Replicas and the database are killed without warning; `npm run campaign:replicas` does the same for as long as you like. */
describe(`three replicas on one database (TOLLGATE_SEED=${SEED})`, () => {
  let world: World;
  const random = new Random(SEED);

  beforeAll(async () => {
    world = await World.create();
  });

  afterAll(async () => {
    await world?.end();
  });

  test('lose no receipt and charge nothing twice when some are killed, and no hold stays open', {
    timeout: 300_000,
  }, async () => {
    const kills = await killCampaign(world, { kills: KILLS, random });
    expect(kills.flatMap(({ faults }) => faults)).toEqual([]);
    expect(kills).toHaveLength(KILLS);
    expect(new Set(kills.map(({ moment }) => moment))).toEqual(
      new Set([...MOMENTS.map(({ name }) => name), IN_REAPER]),
    );
  });

  test('lose no receipt and charge nothing twice when their database is killed', async () => {
    const crashes = await crashCampaign(world, { crashes: CRASHES, random });
    expect(crashes.flatMap(({ faults }) => faults)).toEqual([]);
    for (const { inFlight } of crashes) expect(inFlight).toBeGreaterThan(0);
  });
});
