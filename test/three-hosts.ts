import { expect } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import type { ConfiguredHost } from '../src/hosts/host.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { Secret } from '../src/kit/secret.ts';
import { type SimScript, startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { type Harness, simHost, startHarness } from './harness.ts';

export const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
/** From the cheapest to the most expensive. */
export const NAMES = ['northern', 'eastern', 'western'] as const;
type Name = (typeof NAMES)[number];

const ROW = loadSimulatedFile().models.find(({ id }) => id === 'sim-gpt')!;
const PRICES: readonly number[] = [100_000_000, 200_000_000, 300_000_000];

export function keyOf(name: string): string {
  return `sk-${name}-0123456789abcdef`;
}

/** One model on three hosts with keys and prices of their own, behind a gateway whose clock the test moves. */
export class ThreeHosts {
  readonly clock: ManualClock;
  readonly harness: Harness;
  readonly hosts: readonly ConfiguredHost[];
  readonly sims: Readonly<Record<Name, Sim>>;

  private constructor(clock: ManualClock, harness: Harness, hosts: readonly ConfiguredHost[], sims: readonly Sim[]) {
    this.clock = clock;
    this.harness = harness;
    this.hosts = hosts;
    this.sims = { northern: sims[0]!, eastern: sims[1]!, western: sims[2]! };
  }

  /** Null prices mean the catalog's, at all three. */
  static async start(prices: readonly number[] | null = PRICES): Promise<ThreeHosts> {
    const clock = new ManualClock(Date.parse('2026-11-15T12:00:00Z'));
    const sims = await Promise.all(NAMES.map(() => startSim()));
    const places = NAMES.map((host, at) => {
      const price = prices === null ? {} : { price: { input: prices[at]!, output: prices[at]! } };
      return { ...ROW.hosts[0]!, host, ...price };
    });
    const hosts = NAMES.map((name, at) => {
      return { ...simHost(sims[at]!, { name, simulated: false }), key: new Secret(keyOf(name)) };
    });
    // Their order in the list must not matter.
    const config = { models: [{ ...ROW, hosts: places.toReversed() }] };
    return new ThreeHosts(clock, await startHarness({ clock, config, hosts: () => hosts }), hosts, sims);
  }

  async end(): Promise<void> {
    await this.harness.settled();
    await this.harness.expectCleanBooks();
    await this.harness.stop();
    await Promise.all(NAMES.map((name) => this.sims[name].close()));
  }

  async call(body: object = {}): Promise<Response> {
    const response = await this.harness.post({ ...ASK, ...body });
    await response.clone().text();
    return response;
  }

  /** Who served one call. */
  async served(body: object = {}): Promise<string | null> {
    expect((await this.call(body)).status).toBe(200);
    return (await this.harness.newestReceipt()).host;
  }

  /** How often each host was asked. */
  received(): number[] {
    return NAMES.map((name) => this.sims[name].received());
  }

  script(name: Name, faults: SimScript | null): void {
    this.sims[name].script(faults);
  }

  told(message: RegExp): Record<string, unknown>[] {
    return this.harness.log.filter(({ msg }) => message.test(String(msg)));
  }

  async metric(line: string): Promise<number | null> {
    const text = await (await this.harness.get('/metrics')).text();
    const found = text.split('\n').find((one) => one.startsWith(`${line} `));
    return found === undefined ? null : Number(found.slice(line.length + 1));
  }
}
