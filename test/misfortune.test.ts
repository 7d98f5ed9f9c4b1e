import { beforeAll, describe, expect, test } from 'vitest';
import { type Campaign, misfortuneCampaign } from '../campaigns/misfortune/campaign.ts';
import { MISFORTUNES } from '../campaigns/misfortune/misfortunes.ts';
import { seedFrom } from './random.ts';

const SEED = seedFrom(process.env, 12);
/** The others need longer, or have a suite of their own. */
const LEFT_TO_THE_CAMPAIGN = ['restored-postgres'];
const PLAYED = MISFORTUNES.filter(({ name }) => !LEFT_TO_THE_CAMPAIGN.includes(name));

/** One short round each; `npm run campaign:misfortune` plays as many as one likes. */
describe(`${PLAYED.length} misfortunes under load (TOLLGATE_SEED=${SEED})`, () => {
  let campaign: Campaign;

  beforeAll(async () => {
    const terms = { misfortunes: PLAYED, rounds: PLAYED.length, seed: SEED, lanes: 3, isShort: true };
    campaign = await misfortuneCampaign(terms);
    for (const reason of campaign.leftOut) process.stdout.write(`left out: ${reason}\n`);
  });

  const roundsOf = (name: string) => campaign.played.filter(({ misfortune }) => misfortune === name);

  for (const { name } of PLAYED) {
    test(`${name} leaves an exact ledger, or a refusal in one sentence`, (context) => {
      const reason = campaign.leftOut.find((words) => words.startsWith(`${name}: `));
      context.skip(reason !== undefined, reason);
      expect(roundsOf(name).flatMap(({ faults }) => faults)).toEqual([]);
      expect(roundsOf(name).reduce((sum, { seen }) => sum + seen, 0)).toBeGreaterThan(0);
    });
  }
});
