import { expect, test } from 'vitest';
import { longTokens } from '../campaigns/holds/long-tokens.ts';
import { promptKinds } from '../campaigns/holds/prompts.ts';
import { cl100k, measureQuality, o200k, type Quality } from '../campaigns/holds/quality.ts';
import { LIMITS } from '../src/limits.ts';

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
