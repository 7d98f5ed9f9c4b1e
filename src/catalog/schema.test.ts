import { describe, expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { modelRowSchema, priceSchema } from './schema.ts';

const least = { id: 'mine', context_window: 8_192, hosts: [{ host: 'local', model: 'mine:latest' }] };

function problems(row: unknown): string[] {
  const result = modelRowSchema.safeParse(row);
  return result.success ? [] : result.error.issues.map((issue) => issue.path.join('.'));
}

describe('a model row', () => {
  test('needs an id, a window and a host, and nothing else', () => {
    expect(problems(least)).toEqual([]);
    expect(problems({})).toEqual(['id', 'context_window', 'hosts']);
  });

  test.each([
    ['caps.1', { caps: ['chat', 'sing'] }],
    ['price.output', { price: { input: 1 } }],
    ['price.input', { price: { input: -1, output: 0 } }],
    ['price.input', { price: { input: 0.5, output: 0 } }],
    ['price.output', { price: { input: 0, output: LIMITS.rateNanousdPerMillionMax + 1 } }],
    ['price.tiers.0.input', { price: { input: 1, output: 1, tiers: [{ above_input_tokens: 9, output: 1 }] } }],
    ['hosts', { hosts: [] }],
    ['hosts.0.model', { hosts: [{ host: 'local', model: '' }] }],
    ['hosts.0.wire', { hosts: [{ host: 'local', model: 'mine', wire: '' }] }],
    ['thinking', { thinking: 'hard' }],
    ['aliases.0', { aliases: ['two words'] }],
    ['id', { id: 'auto' }],
    ['id', { id: 'vendor//model' }],
    ['image_tokens_max', { caps: ['chat', 'images'] }],
    ['context_window', { context_window: 0 }],
    ['', { contxt_window: 1 }],
  ])('is refused at the path of the bad field: %s', (path, change) => {
    expect(problems({ ...least, ...change })).toEqual([path]);
  });

  test('may have slashes in its id', () => {
    expect(problems({ ...least, id: 'meta-llama/Llama-4' })).toEqual([]);
  });
});

describe('a price', () => {
  const tier = (above: number) => ({ above_input_tokens: above, input: 1, output: 1 });

  test('has its tiers in ascending order, each once', () => {
    const price = { input: 1, output: 1 };
    expect(priceSchema.safeParse({ ...price, tiers: [tier(1), tier(2)] }).success).toBe(true);
    expect(priceSchema.safeParse({ ...price, tiers: [tier(2), tier(1)] }).success).toBe(false);
    expect(priceSchema.safeParse({ ...price, tiers: [tier(1), tier(1)] }).success).toBe(false);
  });

  test('may be an explicit zero', () => {
    expect(priceSchema.safeParse({ input: 0, output: 0 }).success).toBe(true);
  });
});
