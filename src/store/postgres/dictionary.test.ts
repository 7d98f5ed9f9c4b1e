import { describe, expect, it } from 'vitest';
import { aHold } from '../../../test/store-fixtures.ts';
import { LIMITS } from '../../limits.ts';
import { Dictionary } from './dictionary.ts';

/** A database that has every name. */
class Names {
  readonly #ids = new Map<string, bigint>();

  async queryToAdmit<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    if (!text.includes('FROM name')) return [];
    const wanted = String(values[0]).slice(2, -2).split('","');
    return wanted.map((name) => ({ id: this.#idOf(name), text: name })) as Row[];
  }

  #idOf(name: string): bigint {
    const id = this.#ids.get(name) ?? BigInt(this.#ids.size + 1);
    this.#ids.set(name, id);
    return id;
  }
}

describe('a dictionary that has grown too large', () => {
  const holdsWith = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, at) => aHold(BigInt(at + 1), 1n, { requestedModel: `${prefix}${at}` }));

  it('drops old names, but not those that a running batch has loaded', async () => {
    const dictionary = new Dictionary(new Names(), { load: async () => new Map(), forgetIds: () => undefined });
    const { nameId: early } = await dictionary.load(holdsWith(LIMITS.storeCachedRowsMax - 10, 'a'));
    const { nameId: late } = await dictionary.load([...holdsWith(2, 'a'), ...holdsWith(20, 'b')]);
    expect([early('a0'), early('a1')]).toEqual([late('a0'), late('a1')]);
    expect(late('b19')).toBeGreaterThan(late('b0'));
    expect(() => late('a7')).toThrow('was not loaded');
  });
});
