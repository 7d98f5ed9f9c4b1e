import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

describe('a gateway with two workers', () => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({ workers: 2, hosted: true });
  });

  afterAll(() => harness.stop());

  test('serves calls', async () => {
    const { secret } = await harness.mint();
    const statuses: number[] = [];
    for (let call = 0; call < 20; call++) {
      const response = await harness.post(
        { model: 'sim-small', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 },
        { authorization: `Bearer ${secret}`, connection: 'close' },
      );
      statuses.push(response.status);
      await response.text();
    }
    const models = await harness.get('/v1/models', { authorization: `Bearer ${secret}` });
    console.log(statuses, models.status, (await models.text()).length, harness.log.length);
    const metrics = await fetch(`${harness.running.operationsUrl}/metrics`);
    console.log((await metrics.text()).split('\n').filter((line) => line.startsWith('tollgate')).join('\n'));
    await harness.expectCleanBooks();
  });
});
