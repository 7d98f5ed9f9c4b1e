import { beforeEach, describe, expect, test } from 'vitest';
import { healthSchema, readHealth } from '../config/health.ts';
import { ManualClock } from '../kit/clock.ts';
import type { HostHealth } from './host-health.ts';
import type { HostEvent, HostSign } from './host-sign.ts';
import { HostsHealth } from './hosts-health.ts';

const SETTINGS = readHealth(healthSchema.parse({}));
const WELL: HostSign = { kind: 'well', firstByteMs: null };
const KEY_REFUSED: HostSign = { kind: 'key_refused', status: 401 };
const ACCOUNT = 1n;

let clock: ManualClock;
let events: HostEvent[];
let host: HostHealth;

beforeEach(() => {
  clock = new ManualClock();
  events = [];
  const hosts = new HostsHealth(SETTINGS, clock, (event) => events.push(event));
  host = hosts.track([{ name: 'host', hasKey: true }]).get('host')!;
});

/** One call from beginning to end. */
function call(sign: HostSign): void {
  host.note(host.enter(clock.monotonicMs()), sign, clock.monotonicMs(), ACCOUNT, () => true);
}

const availability = () => host.availability('their-name', clock.monotonicMs());

describe('the call that tries a rejected key again', () => {
  test('puts the host back in use when its answer begins, but not after a newer decision', () => {
    call(KEY_REFUSED);
    clock.advance(SETTINGS.keyAsideMs);
    const probe = host.enter(clock.monotonicMs());
    expect([host.probesKey(probe), host.probesKey(probe - 1)]).toEqual([true, false]);
    host.keyAccepted(probe - 1, clock.monotonicMs());
    expect(availability()).toBe('closed');
    host.keyAccepted(probe, clock.monotonicMs());
    expect([availability(), host.probesKey(probe), events.at(-1)?.kind]).toEqual(['open', false, 'returned']);
    call(KEY_REFUSED);
    host.keyAccepted(probe, clock.monotonicMs());
    expect(availability()).toBe('closed');
  });

  test('is followed by another one if it takes long, and the first result of either counts', () => {
    call(KEY_REFUSED);
    clock.advance(SETTINGS.keyAsideMs);
    const first = host.enter(clock.monotonicMs());
    clock.advance(SETTINGS.ejectionMs - 1);
    expect(availability()).toBe('closed');
    clock.advance(1);
    expect(availability()).toBe('probe');
    const second = host.enter(clock.monotonicMs());
    expect(availability()).toBe('closed');
    host.note(first, WELL, clock.monotonicMs(), ACCOUNT, () => true);
    expect(availability()).toBe('open');
    host.note(second, KEY_REFUSED, clock.monotonicMs(), ACCOUNT, () => true);
    expect(availability()).toBe('closed');
  });
});
