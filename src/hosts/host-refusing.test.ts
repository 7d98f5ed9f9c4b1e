import { expect, test } from 'vitest';
import { healthSchema, readHealth } from '../config/health.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { HostHealth } from './host-health.ts';
import type { HostSign } from './host-sign.ts';
import { HostsHealth } from './hosts-health.ts';

const SETTINGS = readHealth(healthSchema.parse({}));
const WELL: HostSign = { kind: 'well', firstByteMs: null };
const FAILED: HostSign = { kind: 'failed' };
const REFUSED: HostSign = { kind: 'refused', status: 402 };

const clock = new ManualClock();
const healthIn = (hosts: HostsHealth): HostHealth => hosts.track([{ name: 'host', hasKey: true }]).get('host')!;
const call = (host: HostHealth, sign: HostSign, accountId = 1n): void =>
  host.note(host.enter(clock.monotonicMs()), sign, clock.monotonicMs(), accountId, () => true);

test('a host refuses if it refused ten calls in a row, even of one account, until it serves one', () => {
  const hosts = new HostsHealth(SETTINGS, clock, () => undefined);
  const host = healthIn(hosts);
  for (let count = 1; count < LIMITS.hostRefusalsToReport; count++) call(host, REFUSED);
  expect(host.isRefusing).toBe(false);
  call(host, REFUSED);
  expect(hosts.report()).toMatchObject([{ state: 'well', isRefusing: true }]);
  call(host, FAILED);
  expect(host.isRefusing).toBe(true);
  call(host, WELL);
  expect(host.isRefusing).toBe(false);
});

test('a host refuses as soon as it is asked last because it refused several accounts, until a reload', () => {
  const hosts = new HostsHealth(SETTINGS, clock, () => undefined);
  const host = healthIn(hosts);
  for (const account of [1n, 2n, 1n]) call(host, REFUSED, account);
  expect(host.isRefusing).toBe(true);
  healthIn(hosts);
  expect(host.isRefusing).toBe(false);
});

test('two workers count refusals together, and forget them after an answer that either of them got', () => {
  const here: HostsHealth = new HostsHealth(
    SETTINGS,
    clock,
    () => undefined,
    (news) => there.adopt(news),
  );
  const there: HostsHealth = new HostsHealth(
    SETTINGS,
    clock,
    () => undefined,
    (news) => here.adopt(news),
  );
  const both = [healthIn(here), healthIn(there)] as const;
  for (let pair = 0; pair < LIMITS.hostRefusalsToReport / 2; pair++) for (const host of both) call(host, REFUSED);
  expect(both.map(({ isRefusing }) => isRefusing)).toEqual([true, true]);
  call(both[1], WELL);
  expect(both.map(({ isRefusing }) => isRefusing)).toEqual([false, false]);
});
