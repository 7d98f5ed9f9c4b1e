import { expect, test } from 'vitest';
import { ledgerCampaign } from '../campaigns/ledger/campaign.ts';
import { freshSchema } from './postgres.ts';
import { seedFrom } from './random.ts';

const OPERATIONS = 3_000;
const WORKERS = 2;
const SEED = seedFrom(process.env, 6);

/** `npm run campaign:ledger` does the same a million times. */
test(`processes that move money at random violate no identity at any moment (TOLLGATE_SEED=${SEED})`, async () => {
  const terms = { url: await freshSchema(), operations: OPERATIONS, workers: WORKERS, seed: SEED };
  const { faults, operations, audits, outcomes } = await ledgerCampaign(terms);
  expect(faults).toEqual([]);
  expect(operations).toBeGreaterThanOrEqual(OPERATIONS);
  expect(audits).toBeGreaterThan(0);
  const kinds = [
    'held',
    'settled',
    'voided',
    'credited',
    'hold_refused: balance',
    'settle_found_void',
    'settle_repeated',
  ];
  for (const kind of kinds) expect(outcomes.get(kind), kind).toBeGreaterThan(0);
});
