import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { audit } from './people-fixtures.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
});
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

test.each([
  ['suspended', 'This account is suspended.'],
  ['closed', 'This account is closed for good.'],
] as const)('a %s account cannot have prompts counted at a host', async (status, message) => {
  const { secret, accountId } = await harness.mint({ creditNanousd: 0n });
  const prompt = { model: 'sim-claude', messages: [{ role: 'user', content: 'hello' }] };
  const count = () => harness.post(prompt, bearer(secret), '/v1/messages/count_tokens');
  expect((await count()).status).toBe(200);
  const { directory } = harness.running.books.store;
  await directory.setAccountStatus(accountId, 'suspended', audit('account.suspend'));
  const payout = { id: accountId + 1n, reference: 'closing', note: '', createdMs: 0 };
  if (status === 'closed') await directory.closeAccount(accountId, payout, audit('account.close'));
  harness.sim.reset();
  const refused = await count();
  expect([refused.status, harness.sim.calls]).toEqual([403, []]);
  expect(await refused.json()).toMatchObject({
    error: { code: 'account_suspended', param: null, message: expect.stringContaining(message) },
  });
});
