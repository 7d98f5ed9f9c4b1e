import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { longTokens } from '../campaigns/holds/long-tokens.ts';
import { promptKinds } from '../campaigns/holds/prompts.ts';
import { type Family, measureQuality, o200k, ownFamilies, type Quality } from '../campaigns/holds/quality.ts';
import { loadCatalogFile } from '../src/catalog/load.ts';
import { readPrice } from '../src/catalog/rows.ts';
import { LIMITS } from '../src/limits.ts';
import { worstCase } from '../src/money/worst-case.ts';

/** Compares counted bounds with the tokenizers that the dependencies have; `npm run campaign:holds` knows those of other vendors. */

const PROMPTS = 300;
const BYTES: Family = {
  name: 'bytes',
  model: null,
  factor: LIMITS.tokenFactorDefault,
  countAll: (texts) => texts.map((text) => Buffer.byteLength(text)),
};

let qualities: Quality[] = [];

beforeAll(async () => {
  qualities = measureQuality({
    families: [...(await ownFamilies(LIMITS.tokenFactorDefault)), BYTES],
    kinds: promptKinds(longTokens(200)),
    known: await o200k(),
    prompts: PROMPTS,
    chars: 600,
    seed: 7,
  });
});

const of = (name: string) => qualities.filter(({ family }) => family.name === name);
const shortKinds = (name: string) => of(name).flatMap(({ short, kind }) => (short > 0 ? [kind.name] : []));

describe('the counted bound of an unknown tokenizer', () => {
  test.each(['o200k_base', 'cl100k_base', 'p50k_base', 'r50k_base', 'bytes'])(
    'is compared with %s in 300 prompts',
    (name) => {
      expect(of(name).reduce((sum, { prompts }) => sum + prompts, 0)).toBe(PROMPTS);
      expect(of(name).length).toBeGreaterThanOrEqual(30);
    },
  );

  test.each(['o200k_base', 'cl100k_base'])('covers %s in every language and kind of text, hostile ones too', (name) => {
    expect(shortKinds(name)).toEqual([]);
  });

  test('covers the usual text of p50k_base, which no model of the catalog has, all but for a twentieth', () => {
    for (const { kind, worst } of of('p50k_base')) expect(worst, kind.name).toBeLessThan(1.05);
  });

  test('falls short of r50k_base only where that makes a token of every space in a row', () => {
    expect(['code', 'JSON', 'pages', 'long tokens']).toEqual(expect.arrayContaining(shortKinds('r50k_base')));
  });

  test('covers a token for every digit', () => {
    const [digits] = of('bytes').filter(({ kind }) => kind.name === 'digits');
    expect(digits).toMatchObject({ short: 0, worst: 1 });
  });

  test('is exceeded by no more than three times, whatever the tokenizer and the text', () => {
    for (const { family, kind, worst } of qualities)
      expect(worst, `${family.name} ${kind.name}`).toBeLessThanOrEqual(3);
  });

  test('is several times closer than the bytes', () => {
    const prose = of('cl100k_base').filter(({ kind }) => ['English', 'code', 'pages'].includes(kind.name));
    expect(prose).toHaveLength(3);
    for (const { kind, bound, tokens, bytes } of prose) {
      expect(bound / tokens, kind.name).toBeLessThan(2);
      expect(bytes / bound, kind.name).toBeGreaterThan(1.8);
    }
  });
});

test('with the prices of the catalog, three times the counted tokens cost at most 15 holds, as docs/holds.md says', () => {
  let most = 0;
  for (const { price: row } of loadCatalogFile().models) {
    const price = readPrice(row!);
    for (const { aboveInputTokens } of [...price.tiers, { aboveInputTokens: 1_000 }]) {
      // The largest bounds whose margin does not reach the tier, and smaller ones.
      for (const share of [0.8, 0.5, 0.34]) {
        const inputBound = Math.floor(aboveInputTokens * share);
        const terms = { price, outputBound: 100 };
        const held = worstCase({ ...terms, inputBound, tierBound: Math.ceil(inputBound * 1.25) }).worstNanousd;
        const most3 = worstCase({ ...terms, inputBound: 3 * inputBound }).worstNanousd;
        if (held > 0n) most = Math.max(most, Number(most3) / Number(held));
      }
    }
  }
  expect(readFileSync('docs/holds.md', 'utf8')).toContain('so a call can cost up to 15 holds');
  expect(most).toBeLessThanOrEqual(15);
  expect(most).toBeGreaterThan(14);
});
