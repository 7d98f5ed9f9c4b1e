import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeKey, changeWindows } from '../campaigns/replicas/changes.ts';
import { freeze } from '../campaigns/replicas/freeze.ts';
import { rushCampaign } from '../campaigns/replicas/rush-campaign.ts';
import { World } from '../campaigns/replicas/world.ts';
import { Random, seedFrom } from './random.ts';

const SEED = seedFrom(process.env, 5);
const RUSHES = 4;

/** The real program, three times, on one real PostgreSQL; `npm run campaign:replicas` does the same for as long as you like. */
describe(`three replicas on one database (TOLLGATE_SEED=${SEED})`, () => {
  let world: World;
  const random = new Random(SEED);

  beforeAll(async () => {
    world = await World.create();
  });

  afterAll(async () => {
    await world?.end();
  });

  test("let exactly those calls pass that a balance, a key's cap or a person's cap over three keys pays for", async () => {
    const rushes = await rushCampaign(world, { rounds: RUSHES, random });
    expect(rushes.flatMap(({ faults }) => faults)).toEqual([]);
    expect(rushes.map(({ limit }) => limit)).toEqual(
      Array.from({ length: RUSHES }, () => ['balance', 'cap', 'person']).flat(),
    );
    expect(await world.store.verify()).toMatchObject({ openHolds: 0, violations: [] });
  });

  test('see soon what was changed of a key: its cap, its models, that it was revoked', async () => {
    const changes = await changeKey(world);
    expect(changes.flatMap(({ faults }) => faults)).toEqual([]);
  });

  test("count every call in one window of its key's cap, however often that is changed meanwhile", async () => {
    expect(await changeWindows(world)).toEqual([]);
  });

  test('void the holds of one that is frozen; woken, it neither admits in its old life nor settles', async () => {
    const { faults } = await freeze(world, 0, false);
    expect(faults).toEqual([]);
  });
});
