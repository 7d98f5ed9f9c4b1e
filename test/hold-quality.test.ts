import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { longTokens } from '../campaigns/holds/long-tokens.ts';
import { promptKinds } from '../campaigns/holds/prompts.ts';
import { cl100k, measureQuality, o200k, type Quality } from '../campaigns/holds/quality.ts';
import { loadCatalogFile } from '../src/catalog/load.ts';
import { readPrice } from '../src/catalog/rows.ts';
import { LIMITS } from '../src/limits.ts';
import { worstCase } from '../src/money/worst-case.ts';

async function measure(countTokens: (text: string) => number): Promise<Quality[]> {
  return measureQuality({
    families: [{ name: 'another', factor: LIMITS.tokenFactorDefault, countTokens }],
    kinds: promptKinds(longTokens(200)),
    known: await o200k(),
    prompts: 150,
    chars: 600,
    seed: 7,
  });
}

test('the bound of an unknown tokenizer covers the generation before the known one in every language and kind of text', async () => {
  const { countTokens } = await cl100k();
  const qualities = await measure(countTokens);
  expect(qualities.length).toBeGreaterThanOrEqual(30);
  expect(qualities.filter(({ short }) => short > 0).map(({ kind }) => kind.name)).toEqual([]);
});

test('even a tokenizer of single bytes exceeds the bound by no more than three times, whatever the text', async () => {
  const qualities = await measure((text) => Buffer.byteLength(text));
  for (const { kind, worst } of qualities) expect(worst, kind.name).toBeLessThanOrEqual(3);
});

test('the bound is several times closer than the bytes', async () => {
  const { countTokens } = await cl100k();
  const prose = (await measure(countTokens)).filter(({ kind }) => ['English', 'code', 'pages'].includes(kind.name));
  for (const { kind, bound, tokens, bytes } of prose) {
    expect(bound / tokens, kind.name).toBeLessThan(2);
    expect(bytes / bound, kind.name).toBeGreaterThan(1.8);
  }
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
  expect(readFileSync('docs/holds.md', 'utf8')).toContain('therefore cost up to 15 holds');
  expect(most).toBeLessThanOrEqual(15);
  expect(most).toBeGreaterThan(14);
});
