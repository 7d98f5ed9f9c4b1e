import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AlertsFixture } from '../../test/alerts-fixture.ts';
import { NOON_MS } from '../../test/store-fixtures.ts';
import { LIMITS } from '../limits.ts';

let on: AlertsFixture;
beforeEach(async () => {
  on = await AlertsFixture.open();
});
afterEach(() => on.close());

test('losses of an hour are added up from the calls, and reported once an hour', async () => {
  const watch = on.watcher({ balanceBelowNanousd: null });
  await on.credit(1_000_000n);
  await on.call(watch, 1n, null, 1_000n);
  await watch.look();
  expect(on.raised).toEqual([]);
  await on.call(watch, 1n, null, 1n);
  on.clock.advance(LIMITS.alertLossesMs);
  await watch.look();
  expect(on.raised).toMatchObject([{ kind: 'losses', accountId: null }]);
  expect(JSON.parse(on.raised[0]!.dataJson)).toMatchObject({ loss_nanousd: 1001, above_nanousd: 1000 });
  await on.call(watch, 1n, null, 5n);
  on.clock.advance(LIMITS.alertLossesMs);
  await watch.look();
  expect(on.raised).toHaveLength(1);
  on.clock.advance(3_600_000);
  await watch.look();
  expect(await on.openConditions()).toEqual([]);
  await on.call(watch, 1n, null, 1_001n);
  await watch.look();
  expect(on.raised).toHaveLength(2);
});

test('losses of the last minutes of an hour are reported for that hour, once over all processes', async () => {
  const watches = [on.watcher({ balanceBelowNanousd: null }), on.watcher({ balanceBelowNanousd: null })];
  await on.credit(1_000_000n);
  for (const watch of watches) await watch.look();
  on.clock.advance(3_600_000 - 10_000);
  for (const watch of watches) await on.call(watch, 1n, null, 501n);
  on.clock.advance(20_000);
  for (const watch of watches) await on.call(watch, 1n, null, 500n);
  for (let round = 0; round < 2; round++) for (const watch of watches) await watch.look();
  expect(on.raised).toMatchObject([{ kind: 'losses', subject: new Date(NOON_MS).toISOString().slice(0, 13) }]);
  expect(JSON.parse(on.raised[0]!.dataJson)).toMatchObject({ loss_nanousd: 1002 });
});

test('losses by calls of another worker are reported, even if nobody paid for any of them', async () => {
  const watch = on.watcher({ balanceBelowNanousd: null });
  await watch.look();
  on.clock.advance(LIMITS.alertLossesMs);
  await on.credit(1_000_000n);
  await on.settle(0n, null, 1_001n);
  await watch.look();
  expect(on.raised).toEqual([]);
  watch.noteAll({ accounts: [], keys: [], hasLosses: true });
  await watch.look();
  expect(on.raised).toMatchObject([{ kind: 'losses' }]);
});

test('losses are looked at again after the store was unreachable', async () => {
  const watch = on.watcher({ balanceBelowNanousd: null });
  await on.credit(1_000_000n);
  await on.call(watch, 1n, null, 1_001n);
  vi.spyOn(on.store.directory, 'lossesBetween').mockRejectedValueOnce(new Error('away'));
  await watch.look();
  expect(on.errors.splice(0)).toHaveLength(1);
  on.clock.advance(LIMITS.alertLossesMs);
  await watch.look();
  expect(on.raised).toMatchObject([{ kind: 'losses' }]);
});
