import { expect, test } from 'vitest';
import { ask } from '../../test/gateway-fixture.ts';
import { ANY_READER, JobsFixture } from '../../test/jobs-fixture.ts';
import { LIMITS } from '../limits.ts';

test('a job waits ten minutes for a gateway that knows its model, then fails and says so', async () => {
  const fixture = await JobsFixture.open();
  const { accepted } = await fixture.submit(ask({ model: 'raft' }));
  const { catalog, priceId } = fixture.on.gateway.prices();
  const without = catalog.pricedBy({ version: 'less', json: catalog.pricesJson.replace('"raft"', '"gone"') });
  Object.assign(without, { priceVersion: catalog.priceVersion });
  Object.assign(fixture.on.gateway, { prices: () => ({ catalog: without, priceId }) });
  const { clock } = fixture.on;
  const endsMs = clock.nowMs() + LIMITS.jobModelUnknownMs;
  while (clock.nowMs() < endsMs) {
    expect(await (await fixture.begin()).done).toMatchObject({ kind: 'returned' });
    const { state, errorCode, dueMs } = (await fixture.find(accepted.id))!;
    expect([state, errorCode]).toEqual(['queued', 'model_not_found']);
    expect(dueMs - clock.nowMs()).toBeGreaterThan(0);
    expect(dueMs - clock.nowMs()).toBeLessThanOrEqual(LIMITS.jobModelRetryMs);
    clock.advance(dueMs - clock.nowMs());
  }
  expect(clock.nowMs()).toBe(endsMs);
  expect(await (await fixture.begin()).done).toEqual({ kind: 'ended', state: 'failed' });
  expect(await fixture.find(accepted.id)).toMatchObject({ errorCode: 'model_not_found', attempts: 0 });
  expect((await fixture.jobs.result(ANY_READER, accepted.id)).status).toBe(404);
});
