import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';
import { embed, encodeBase64 } from './vector.ts';

interface List {
  data: { object: string; index: number; embedding: number[] | string }[];
  usage: { prompt_tokens: number; total_tokens: number };
}

let sim: Sim;
let client: OpenAI;
let caller: SimCaller<List>;

beforeAll(async () => {
  sim = await startSim();
  client = new OpenAI({ baseURL: `${sim.url}/v1`, apiKey: 'k', maxRetries: 0 });
  caller = new SimCaller(sim, '/v1/embeddings', { model: 'sim-embed', input: 'a red fox' });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

async function vectors(more: Json): Promise<(number[] | string)[]> {
  return (await caller.complete(more)).data.map((entry) => entry.embedding);
}

function normOf(vector: Iterable<number>): number {
  return Math.hypot(...vector);
}

describe('an embedding', () => {
  test('has the vendor’s members', async () => {
    expect(await caller.complete()).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: expect.any(Array) }],
      model: 'sim-embed',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  });

  test('is a direction of length 1, of its own for every model and input', async () => {
    const [one, two] = (await vectors({ input: ['a red fox', 'a red hen'] })) as number[][];
    expect([one!.length, normOf(one!)]).toEqual([256, expect.closeTo(1, 6)]);
    expect(one).not.toEqual(two);
    expect(await vectors({})).toEqual([one]);
    expect(await vectors({ model: 'other' })).not.toEqual([one]);
  });

  test('arrives through the SDK as floats, which asks for base64 by itself', async () => {
    const list = await client.embeddings.create({ model: 'sim-embed', input: 'a red fox' });
    expect(sim.calls[0]!.body).toContain('"encoding_format":"base64"');
    expect(list.data[0]!.embedding).toEqual((await vectors({}))[0]);
  });

  test('is the same four bytes a number, whatever the number', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 256 }), (input, dimensions) => {
        const vector = embed('m', input, dimensions);
        const bytes = Buffer.from(encodeBase64(vector), 'base64');
        expect(Array.from(vector, (_, index) => bytes.readFloatLE(index * 4))).toEqual([...vector]);
        expect(normOf(vector)).toBeCloseTo(1, 6);
      }),
    );
  });

  test('comes in one encoding only from some models', async () => {
    expect(typeof (await vectors({ model: 'x-floats', encoding_format: 'base64' }))[0]).toBe('object');
    expect(typeof (await vectors({ model: 'x-base64', encoding_format: 'float' }))[0]).toBe('string');
  });
});

describe('dimensions', () => {
  test('are reduced by models that can: the beginning of the whole, again of length 1', async () => {
    const [whole] = (await vectors({ model: 'sim-mrl' })) as number[][];
    const [short] = (await vectors({ model: 'sim-mrl', dimensions: 64 })) as number[][];
    const scale = normOf(whole!.slice(0, 64));
    expect(short).toHaveLength(64);
    for (const [index, value] of short!.entries()) expect(value).toBeCloseTo(whole![index]! / scale, 5);
  });

  test('are refused by all others, and beyond what there is', async () => {
    expect(await caller.refusal({ dimensions: 64 })).toMatchObject({
      status: 400,
      body: { error: { message: 'This model does not support specifying dimensions.', param: null, code: null } },
    });
    for (const dimensions of [0, -1, 257, 1.5]) {
      expect((await caller.refusal({ model: 'sim-mrl', dimensions })).status).toBe(400);
    }
  });
});

describe('input', () => {
  test.each<[string, unknown, number, number]>([
    ['one text', 'one two', 1, 2],
    ['texts', ['one', 'two three'], 2, 3],
    ['tokens, which are one input', [5, 6, 7], 1, 3],
    ['lists of tokens', [[5, 6], [7]], 2, 3],
  ])('may be %s', async (_, input, count, tokens) => {
    const { data, usage } = await caller.complete({ input });
    expect(data.map((entry) => entry.index)).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
  });

  test.each<[string, Json]>([
    ['an empty text', { input: '' }],
    ['an empty text among others', { input: ['a', ''] }],
    ['nothing', { input: [] }],
    ['too many', { input: Array(2049).fill('a') }],
    ['too long a text', { input: 'a '.repeat(8300) }],
    ['an unknown encoding', { encoding_format: 'hex' }],
    ['no model', { model: undefined }],
  ])('is refused: %s', async (_, more) => {
    const { status, body } = await caller.refusal(more);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});
