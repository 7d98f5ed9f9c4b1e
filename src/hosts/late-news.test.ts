import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomCases } from '../../test/random-cases.ts';
import { healthSchema, readHealth } from '../config/health.ts';
import { ManualClock } from '../kit/clock.ts';
import type { HostHealth } from './host-health.ts';
import type { HostNews, HostSign } from './host-sign.ts';
import { HostsHealth } from './hosts-health.ts';

/** Workers whose news of a host takes time to arrive. The first one passes on what the others tell it. */

const SETTINGS = readHealth(healthSchema.parse({}));
const LONGEST_MS = Math.max(SETTINGS.ejectionMaxMs, SETTINGS.keyAsideMs, SETTINGS.limitedMaxMs);
const WELL: HostSign = { kind: 'well', firstByteMs: null };
const FAILED: HostSign = { kind: 'failed' };
const NOTHING: HostSign = { kind: 'nothing' };
const KEY_REFUSED: HostSign = { kind: 'key_refused', status: 401 };

class Worker {
  readonly hosts: HostsHealth;
  readonly health: HostHealth;
  /** The calls of this worker that run, by their tickets. */
  readonly tickets: number[] = [];

  constructor(hosts: HostsHealth) {
    this.hosts = hosts;
    this.health = hosts.track([{ name: 'host', hasKey: true }]).get('host')!;
  }
}

class Gateway {
  readonly clock = new ManualClock();
  readonly workers: readonly Worker[];
  /** From the first worker to each of the others, and back. */
  readonly #down: HostNews[][];
  readonly #up: HostNews[][];

  constructor(workers: number) {
    this.#down = Array.from({ length: workers }, () => []);
    this.#up = Array.from({ length: workers }, () => []);
    const share = (from: number) => (news: HostNews) => {
      if (from > 0) this.#up[from]!.push(news);
      else for (let to = 1; to < workers; to++) this.#down[to]!.push(news);
    };
    this.workers = Array.from(
      { length: workers },
      (_, at) => new Worker(new HostsHealth(SETTINGS, this.clock, () => {}, share(at))),
    );
  }

  begin(at: number): void {
    const { health, tickets } = this.workers[at]!;
    tickets.push(health.enter(this.clock.monotonicMs()));
  }

  end(at: number, sign: HostSign): void {
    const { health, tickets } = this.workers[at]!;
    const ticket = tickets.shift();
    if (ticket !== undefined) health.note(ticket, sign, this.clock.monotonicMs(), 1n, () => true);
  }

  /** One message of this worker to the first one, or to it. */
  deliver(at: number, isUp: boolean): void {
    const news = (isUp ? this.#up : this.#down)[at]!.shift();
    if (news === undefined) return;
    this.workers[isUp ? 0 : at]!.hosts.adopt(news);
    if (isUp) for (let to = 1; to < this.workers.length; to++) if (to !== at) this.#down[to]!.push(news);
  }

  deliverAll(): void {
    for (const isUp of [true, false])
      for (let at = 1; at < this.workers.length; at++)
        while ((isUp ? this.#up : this.#down)[at]!.length > 0) this.deliver(at, isUp);
  }

  availabilities(): string[] {
    return this.workers.map(({ health }) => health.availability('model', this.clock.monotonicMs()));
  }
}

/** Two workers that begin a probe before either knows of the other's. */
function twoProbes(sign: HostSign): Gateway {
  const gateway = new Gateway(2);
  for (let call = 0; call < SETTINGS.consecutiveFailures; call++) {
    gateway.begin(0);
    gateway.end(0, sign);
  }
  gateway.deliverAll();
  gateway.clock.advance(LONGEST_MS);
  for (const at of [0, 1]) gateway.begin(at);
  gateway.deliverAll();
  return gateway;
}

describe.each([
  ['an ejected host', FAILED],
  ['a rejected key', KEY_REFUSED],
])('two probes of %s at the same moment', (_, sign) => {
  test('return it if both succeed', () => {
    const gateway = twoProbes(sign);
    for (const at of [0, 1]) gateway.end(at, WELL);
    gateway.deliverAll();
    expect(gateway.availabilities()).toEqual(['open', 'open']);
  });

  test.each([
    ['fail', sign],
    ['have no result', NOTHING],
  ])('are followed by another one if they %s', (_, end) => {
    const gateway = twoProbes(sign);
    for (const at of [0, 1]) gateway.end(at, end);
    gateway.deliverAll();
    gateway.clock.advance(LONGEST_MS);
    expect(gateway.availabilities()).toEqual(['probe', 'probe']);
  });
});

test('a host can always be used again some time after its last calls, in every worker, however late news arrives', () => {
  const at = fc.nat(2);
  const sign = fc.constantFrom(WELL, FAILED, NOTHING, KEY_REFUSED, KEY_REFUSED);
  const step = fc.oneof(
    at.map((worker) => (gateway: Gateway) => gateway.begin(worker)),
    fc.tuple(at, sign).map(
      ([worker, end]) =>
        (gateway: Gateway) =>
          gateway.end(worker, end),
    ),
    fc.tuple(at, fc.boolean()).map(
      ([worker, isUp]) =>
        (gateway: Gateway) =>
          gateway.deliver(worker, isUp),
    ),
    fc.constantFrom(1, SETTINGS.ejectionMs, LONGEST_MS).map((ms) => (gateway: Gateway) => gateway.clock.advance(ms)),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.array(sign, { minLength: 60, maxLength: 60 }), (steps, ends) => {
      const gateway = new Gateway(3);
      gateway.begin(0);
      gateway.end(0, KEY_REFUSED);
      gateway.deliverAll();
      gateway.clock.advance(LONGEST_MS);
      for (const run of steps) run(gateway);
      for (const [index, end] of ends.entries()) gateway.end(index % 3, end);
      gateway.deliverAll();
      gateway.clock.advance(LONGEST_MS);
      for (const availability of gateway.availabilities()) expect(['open', 'probe']).toContain(availability);
    }),
    { numRuns: randomCases(1000) },
  );
});
