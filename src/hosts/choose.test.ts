import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import type { Price } from '../money/price.ts';
import { type CallTraits, chooseHosts, hashText } from './choose.ts';
import type { Candidate } from './directory.ts';
import type { Availability, HostHealth } from './host-health.ts';
import { HOST_ROWS } from './rows.ts';

const FREE: Price = {
  inputNanousdPerMillion: 0n,
  outputNanousdPerMillion: 0n,
  cacheReadNanousdPerMillion: null,
  cacheWriteNanousdPerMillion: null,
  cacheWrite1hNanousdPerMillion: null,
  tiers: [],
};
const price = (input: bigint, output: bigint): Price => ({
  ...FREE,
  inputNanousdPerMillion: input,
  outputNanousdPerMillion: output,
});

function candidate(name: string, at: Price, availability: Availability = 'open'): Candidate {
  return {
    host: { row: { ...HOST_ROWS[0]!, name }, send: () => expect.fail('nobody is asked'), hideKey: (text) => text },
    wires: ['chat'],
    hostModel: 'their-name',
    price: at,
    health: { availability: () => availability } as Partial<HostHealth> as HostHealth,
  };
}

function call(inputTokens: bigint, outputTokens: bigint, prompt = 'hello'): CallTraits {
  return {
    costAt: (at) => inputTokens * at.inputNanousdPerMillion + outputTokens * at.outputNanousdPerMillion,
    affinity: () => hashText(prompt),
  };
}

function order(candidates: readonly Candidate[], traits = call(1n, 1n)): string[] {
  return chooseHosts(candidates, 0, traits).map(({ host }) => host.row.name);
}

describe('by price', () => {
  test('the host that is cheapest for this call comes first', () => {
    const hosts = [candidate('cheap-output', price(9n, 1n)), candidate('cheap-input', price(1n, 5n))];
    expect(order(hosts, call(100n, 1n))).toEqual(['cheap-input', 'cheap-output']);
    expect(order(hosts, call(1n, 100n))).toEqual(['cheap-output', 'cheap-input']);
  });

  test('prices are not computed if all hosts charge the same', () => {
    const unpriced: CallTraits = { costAt: () => expect.fail('no need to'), affinity: () => 1 };
    const one = price(1n, 1n);
    expect(order([candidate('a', one), candidate('b', one)], unpriced)).toHaveLength(2);
  });

  test('at equal prices, hosts that serve the model themselves come before resellers', () => {
    const one = price(1n, 1n);
    const reseller = candidate('reseller', one);
    const resold = { ...reseller, host: { ...reseller.host, row: { ...reseller.host.row, reseller: true as const } } };
    for (const prompt of ['a', 'b', 'c', 'd', 'e'])
      expect(order([resold, candidate('direct', one)], call(1n, 1n, prompt))).toEqual(['direct', 'reseller']);
    expect(order([resold, candidate('direct', price(2n, 2n))])).toEqual(['reseller', 'direct']);
  });

  test('the prompt is not hashed if prices differ', () => {
    const unhashed: CallTraits = { ...call(1n, 1n), affinity: () => expect.fail('no need to') };
    expect(order([candidate('b', price(2n, 2n)), candidate('a', price(1n, 1n))], unhashed)).toEqual(['a', 'b']);
  });
});

describe('by health', () => {
  const cheap = price(1n, 1n);
  const dear = price(5n, 5n);

  test.each<[Availability, string[]]>([
    ['open', ['cheap', 'dear']],
    ['probe', ['cheap', 'dear']],
    ['aside', ['dear', 'cheap']],
    ['closed', ['dear']],
  ])('the cheapest that is %s', (availability, expected) => {
    expect(order([candidate('cheap', cheap, availability), candidate('dear', dear)])).toEqual(expected);
  });

  test('ejected hosts come last, the cheapest first; a host whose key was rejected is left out', () => {
    const hosts = [candidate('a', dear, 'aside'), candidate('b', cheap, 'aside'), candidate('c', cheap, 'closed')];
    expect(order(hosts)).toEqual(['b', 'a']);
    expect(order([candidate('c', cheap, 'closed')])).toEqual([]);
  });
});

describe('by prompt, among equal prices', () => {
  const same = price(1n, 1n);
  const hosts = ['one', 'two', 'three', 'four'].map((name) => candidate(name, same));
  const first = (prompt: string, among = hosts) => order(among, call(1n, 1n, prompt))[0]!;

  test('the same start of a prompt always selects the same host, in whatever order hosts are configured', () => {
    fc.assert(
      fc.property(fc.string(), fc.shuffledSubarray(hosts, { minLength: 4 }), (prompt, shuffled) => {
        expect(first(prompt, shuffled)).toBe(first(prompt));
      }),
    );
  });

  test('every host gets about an equal share of prompts', () => {
    const shares = new Map<string, number>();
    for (let prompt = 0; prompt < 4_000; prompt++) {
      const host = first(`prompt ${prompt}`);
      shares.set(host, (shares.get(host) ?? 0) + 1);
    }
    for (const { host } of hosts) expect(Math.abs(shares.get(host.row.name)! - 1_000)).toBeLessThan(150);
  });

  test('removing a host moves only the prompts of that host', () => {
    const without = hosts.filter(({ host }) => host.row.name !== 'two');
    for (let prompt = 0; prompt < 500; prompt++) {
      const before = first(`prompt ${prompt}`);
      if (before !== 'two') expect(first(`prompt ${prompt}`, without)).toBe(before);
    }
  });
});

test('a model may have any number of hosts', () => {
  const many = Array.from({ length: LIMITS.configHostsMax }, (_, at) => candidate(`host-${at}`, price(BigInt(at), 1n)));
  expect(order(many.toReversed())).toEqual(many.map(({ host }) => host.row.name));
});
