import { beforeEach, describe, expect, test } from 'vitest';
import { healthSchema, readHealth } from '../config/health.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { HostHealth } from './host-health.ts';
import type { HostEvent, HostSign } from './host-sign.ts';
import { HostsHealth } from './hosts-health.ts';

const SETTINGS = readHealth(healthSchema.parse({}));
const WELL: HostSign = { kind: 'well', firstByteMs: null };
const FAILED: HostSign = { kind: 'failed' };
const NOTHING: HostSign = { kind: 'nothing' };
const KEY_REFUSED: HostSign = { kind: 'key_refused', status: 401 };
const MODEL = 'their-name';
const ACCOUNT = 1n;
const REFUSED: HostSign = { kind: 'refused', status: 402 };

let clock: ManualClock;
let events: HostEvent[];
let hosts: HostsHealth;
let host: HostHealth;

beforeEach(() => {
  clock = new ManualClock();
  events = [];
  hosts = new HostsHealth(SETTINGS, clock, (event) => events.push(event));
  host = healthOf('host');
});

function healthOf(name: string, hasKey = true): HostHealth {
  return hosts.track([{ name, hasKey }]).get(name)!;
}

/** One call from beginning to end. */
function call(sign: HostSign, spare = true): void {
  host.note(host.enter(clock.monotonicMs()), sign, clock.monotonicMs(), ACCOUNT, () => spare);
}

function calls(count: number, sign: HostSign, spare = true): void {
  for (let made = 0; made < count; made++) call(sign, spare);
}

const availability = (model = MODEL) => host.availability(model, clock.monotonicMs());
const kinds = () => events.map(({ kind }) => kind);

describe('ejection', () => {
  test('five failures in a row eject, four do not, and a good answer resets the count', () => {
    calls(4, FAILED);
    call(WELL);
    calls(4, FAILED);
    expect(availability()).toBe('open');
    call(FAILED);
    expect(availability()).toBe('aside');
    expect(events).toEqual([{ kind: 'ejected', host: 'host', cause: 'failures', forMs: 30_000, times: 1 }]);
  });

  test('half of twenty calls in ten seconds eject, though never five fail in a row', () => {
    for (let pair = 0; pair < 9; pair++) {
      call(WELL);
      call(FAILED);
    }
    call(WELL);
    expect(availability()).toBe('open');
    call(FAILED);
    expect(events).toMatchObject([{ kind: 'ejected', cause: 'failure_rate' }]);
  });

  test('the same number of failures over a longer time does not eject', () => {
    for (let pair = 0; pair < 20; pair++) {
      call(WELL);
      call(FAILED);
      clock.advance(2_000);
    }
    expect(events).toEqual([]);
  });

  test('a slow first byte counts as a failure, a quick one does not', () => {
    calls(10, { kind: 'well', firstByteMs: SETTINGS.slowFirstByteMs });
    expect(availability()).toBe('open');
    calls(5, { kind: 'well', firstByteMs: SETTINGS.slowFirstByteMs + 1 });
    expect(availability()).toBe('aside');
    expect(host.firstByteMs).toBeCloseTo(SETTINGS.slowFirstByteMs, -1);
  });

  test('the last host of a model is not ejected, but is as soon as there is another', () => {
    calls(50, FAILED, false);
    expect(availability()).toBe('open');
    call(FAILED, true);
    expect(availability()).toBe('aside');
  });

  test('fifty calls that fail together are one ejection', () => {
    const tickets = Array.from({ length: 50 }, () => host.enter(0));
    for (const ticket of tickets) host.note(ticket, FAILED, 0, ACCOUNT, () => true);
    expect(events).toMatchObject([{ kind: 'ejected', times: 1 }]);
  });

  test('a success of a call that began before the ejection does not readmit the host', () => {
    const before = host.enter(0);
    calls(5, FAILED);
    host.note(before, WELL, 0, ACCOUNT, () => true);
    expect(availability()).toBe('aside');
  });

  test('repeated overruns eject; rare ones do not', () => {
    const overrun = () => host.overran(clock.monotonicMs(), () => true);
    for (let hours = 0; hours < 10; hours++) {
      overrun();
      clock.advance(3_600_000);
    }
    expect(events).toEqual([]);
    for (let times = 0; times < SETTINGS.overruns; times++) overrun();
    expect(events).toMatchObject([{ kind: 'ejected', cause: 'overruns' }]);
  });
});

describe('readmission', () => {
  beforeEach(() => calls(5, FAILED));

  test('after the ejection one call probes the host, and no other call is admitted until it ends', () => {
    clock.advance(29_999);
    expect(availability()).toBe('aside');
    clock.advance(1);
    expect(availability()).toBe('probe');
    const probe = host.enter(clock.monotonicMs());
    expect([availability(), host.state(clock.monotonicMs())]).toEqual(['aside', 'probing']);
    host.note(probe, WELL, clock.monotonicMs(), ACCOUNT, () => true);
    expect(availability()).toBe('open');
    expect(kinds()).toEqual(['ejected', 'probed', 'returned']);
  });

  test('each failed probe ejects for longer, up to the maximum', () => {
    const durations: number[] = [];
    for (let times = 0; times < 14; times++) {
      const last = events.findLast((event) => event.kind === 'ejected')!;
      durations.push(last.forMs);
      clock.advance(last.forMs);
      call(FAILED);
    }
    expect(durations.slice(0, 4)).toEqual([30_000, 60_000, 90_000, 120_000]);
    expect(durations.slice(9)).toEqual([300_000, 300_000, 300_000, 300_000, 300_000]);
  });

  test('a probe without a result leaves the decision to the next call', () => {
    clock.advance(30_000);
    call(NOTHING);
    expect(availability()).toBe('probe');
  });

  test('a probe that is refused or rate limited readmits the host', () => {
    clock.advance(30_000);
    call({ kind: 'limited', retryAfterMs: 5_000 });
    expect(kinds()).toContain('returned');
    expect([availability(), host.state(clock.monotonicMs())]).toEqual(['aside', 'limited']);
  });

  test('an ejection soon after the last is longer; after a long healthy time it is as short as the first', () => {
    clock.advance(30_000);
    call(WELL);
    calls(5, FAILED);
    expect(events.at(-1)).toMatchObject({ forMs: 60_000, times: 2 });
    clock.advance(60_000);
    call(WELL);
    clock.advance(SETTINGS.ejectionMaxMs + 1);
    calls(5, FAILED);
    expect(events.at(-1)).toMatchObject({ forMs: 30_000, times: 1 });
  });

  test('an ejected host that is used because there is no other returns with its first success and is not ejected again', () => {
    calls(20, FAILED, false);
    expect(kinds()).toEqual(['ejected']);
    call(WELL, false);
    expect(kinds()).toEqual(['ejected', 'returned']);
  });
});

describe('rate limits', () => {
  test.each([
    [null, SETTINGS.limitedMs],
    [7_000, 7_000],
    [86_400_000, SETTINGS.limitedMaxMs],
  ])('a Retry-After of %s ms pauses the host for %i ms', (retryAfterMs, forMs) => {
    call({ kind: 'limited', retryAfterMs });
    clock.advance(forMs - 1);
    expect(availability()).toBe('aside');
    clock.advance(1);
    expect(availability()).toBe('open');
  });

  test('do not count as failures', () => {
    calls(4, FAILED);
    calls(40, { kind: 'limited', retryAfterMs: 0 });
    expect(kinds()).not.toContain('ejected');
  });

  test('a shorter pause does not end a longer one', () => {
    call({ kind: 'limited', retryAfterMs: 30_000 });
    call({ kind: 'limited', retryAfterMs: 1_000 });
    clock.advance(29_000);
    expect(availability()).toBe('aside');
  });
});

describe('refusals', () => {
  test('a rejected key disables the host, is reported once, and is tried by one call afterwards', () => {
    call(KEY_REFUSED);
    expect([availability(), host.state(0)]).toEqual(['closed', 'key_refused']);
    expect(events).toEqual([
      { kind: 'key_set_aside', host: 'host', status: 401, forMs: SETTINGS.keyAsideMs, isNews: true },
    ]);
    clock.advance(SETTINGS.keyAsideMs);
    expect(availability()).toBe('probe');
    const probe = host.enter(clock.monotonicMs());
    expect(availability()).toBe('closed');
    host.note(probe, KEY_REFUSED, clock.monotonicMs(), ACCOUNT, () => true);
    expect(events.at(-1)).toMatchObject({ kind: 'key_set_aside', isNews: false });
    clock.advance(SETTINGS.keyAsideMs);
    call(WELL);
    expect(availability()).toBe('open');
    call(KEY_REFUSED);
    expect(events.at(-1)).toMatchObject({ isNews: true });
  });

  test('a host without a key can only fail', () => {
    host = healthOf('keyless', false);
    call(KEY_REFUSED);
    expect(availability()).toBe('open');
    calls(4, KEY_REFUSED);
    expect(availability()).toBe('aside');
  });

  test('a model that the host does not know is not requested there for a while; other models are', () => {
    call({ kind: 'model_unknown', model: MODEL });
    expect([availability(), availability('another')]).toEqual(['aside', 'open']);
    call({ kind: 'model_unknown', model: MODEL });
    expect(events).toMatchObject([{ isNews: true }, { isNews: false }]);
    clock.advance(SETTINGS.keyAsideMs);
    expect(availability()).toBe('open');
  });

  test('the number of remembered unknown models is limited', () => {
    for (let at = 0; at <= LIMITS.hostModelsAsideMax; at++) call({ kind: 'model_unknown', model: `model-${at}` });
    expect(availability(`model-${LIMITS.hostModelsAsideMax - 1}`)).toBe('aside');
    expect(availability(`model-${LIMITS.hostModelsAsideMax}`)).toBe('open');
  });

  test('unknown models that may be asked for again make room for others, also for those that another thread has found', () => {
    for (let at = 0; at < LIMITS.hostModelsAsideMax; at++) call({ kind: 'model_unknown', model: `model-${at}` });
    const forMs = 1_000;
    host.adopt({ kind: 'model_set_aside', host: 'host', model: 'one more', forMs, isNews: true }, clock.monotonicMs());
    expect([host.modelsAside, availability('one more')]).toEqual([LIMITS.hostModelsAsideMax, 'open']);
    clock.advance(SETTINGS.keyAsideMs);
    call({ kind: 'model_unknown', model: MODEL });
    expect([host.modelsAside, availability()]).toEqual([1, 'aside']);
  });
});

describe('a reload', () => {
  test('tries rejected keys and unknown models again', () => {
    call({ kind: 'model_unknown', model: MODEL });
    call(KEY_REFUSED);
    expect(healthOf('host')).toBe(host);
    expect(availability()).toBe('open');
  });

  test('does not readmit an ejected host, and forgets removed hosts', () => {
    calls(5, FAILED);
    healthOf('host');
    expect(availability()).toBe('aside');
    hosts.track([{ name: 'another', hasKey: true }]);
    expect(hosts.report()).toMatchObject([{ host: 'another', state: 'well', firstByteMs: null, events: [] }]);
    expect(healthOf('host')).not.toBe(host);
  });
});

describe('refusals that may be about one request', () => {
  function refuse(accountId: bigint): void {
    host.note(host.enter(clock.monotonicMs()), REFUSED, clock.monotonicMs(), accountId, () => true);
  }

  test('of one account, however many, leave the host in use', () => {
    for (let count = 0; count < 50; count++) refuse(1n);
    expect(availability()).toBe('open');
    expect(events.filter((event) => event.kind === 'refused' && event.isNews)).toHaveLength(1);
  });

  test('of several accounts in a row let other hosts come first, longer each time', () => {
    const pause = (): number => {
      for (const account of [1n, 2n, 1n]) refuse(account);
      expect(availability()).toBe('aside');
      const last = events.at(-1);
      const forMs = last?.kind === 'refused' ? last.forMs : 0;
      clock.advance(forMs);
      expect(availability()).toBe('open');
      return forMs;
    };
    expect([pause(), pause(), pause()]).toEqual([5_000, 10_000, 20_000]);
  });

  test('with a success in between are no streak', () => {
    for (const account of [1n, 2n, 1n, 2n]) {
      refuse(account);
      call(WELL);
    }
    expect(availability()).toBe('open');
  });

  test('do not last longer than a rejected key, and a reload forgets them', () => {
    for (let round = 0; round < 20; round++) for (const account of [1n, 2n, 3n]) refuse(account);
    const longest = Math.max(...events.map((event) => (event.kind === 'refused' ? event.forMs : 0)));
    expect(longest).toBe(SETTINGS.keyAsideMs);
    healthOf('host');
    expect(availability()).toBe('open');
  });
});

describe('two workers', () => {
  let here: HostsHealth;
  let there: HostsHealth;
  let told: string[];

  beforeEach(() => {
    told = [];
    const link = (name: string, other: () => HostsHealth) =>
      new HostsHealth(
        SETTINGS,
        clock,
        ({ kind }) => told.push(`${name} ${kind}`),
        (news) => other().adopt(structuredClone(news)),
      );
    here = link('here', () => there);
    there = link('there', () => here);
  });

  const of = (hosts: HostsHealth) => hosts.track([{ name: 'host', hasKey: true }]).get('host')!;
  const callAt = (health: HostHealth, sign: HostSign): void =>
    health.note(health.enter(clock.monotonicMs()), sign, clock.monotonicMs(), ACCOUNT, () => true);
  const availabilities = (...healths: HostHealth[]) =>
    healths.map((health) => health.availability(MODEL, clock.monotonicMs()));

  test('eject a host after five failures in a row that they saw together, and one of them says so', () => {
    const [first, second] = [of(here), of(there)];
    for (let pair = 0; pair < 2; pair++) for (const health of [first, second]) callAt(health, FAILED);
    expect(availabilities(first, second)).toEqual(['open', 'open']);
    callAt(second, FAILED);
    expect(availabilities(first, second)).toEqual(['aside', 'aside']);
    expect(told).toEqual(['there ejected']);
    expect(here.report()[0]?.events.map(({ event }) => event.kind)).toEqual(['ejected']);
  });

  test('forget failures after an answer that either of them got', () => {
    const [first, second] = [of(here), of(there)];
    for (let call = 0; call < 4; call++) callAt(first, FAILED);
    callAt(second, WELL);
    callAt(first, FAILED);
    expect(availabilities(first, second)).toEqual(['open', 'open']);
  });

  test('probe an ejected host with one call, whose result counts for both', () => {
    const [first, second] = [of(here), of(there)];
    for (let call = 0; call < 5; call++) callAt(first, FAILED);
    clock.advance(SETTINGS.ejectionMs);
    const ticket = second.enter(clock.monotonicMs());
    expect(availabilities(first, second)).toEqual(['aside', 'aside']);
    second.note(ticket, NOTHING, clock.monotonicMs(), ACCOUNT, () => true);
    expect(availabilities(first, second)).toEqual(['probe', 'probe']);
    callAt(second, WELL);
    expect(availabilities(first, second)).toEqual(['open', 'open']);
    expect(told).toEqual(['here ejected', 'there probed', 'there probed', 'there returned']);
  });

  test('set aside a rejected key, an unknown model and a rate limit together', () => {
    const [first, second] = [of(here), of(there)];
    callAt(first, { kind: 'model_unknown', model: MODEL });
    expect(availabilities(first, second)).toEqual(['aside', 'aside']);
    callAt(second, { kind: 'limited', retryAfterMs: 1000 });
    expect([here, there].map((hosts) => hosts.report()[0]?.state)).toEqual(['limited', 'limited']);
    callAt(second, KEY_REFUSED);
    expect(availabilities(first, second)).toEqual(['closed', 'closed']);
  });

  test('count overruns together', () => {
    const [first, second] = [of(here), of(there)];
    for (let overrun = 0; overrun < SETTINGS.overruns; overrun++)
      (overrun % 2 === 0 ? first : second).overran(clock.monotonicMs(), () => true);
    expect(availabilities(first, second)).toEqual(['aside', 'aside']);
  });
});
