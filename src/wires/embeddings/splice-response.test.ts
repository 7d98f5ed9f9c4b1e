import { describe, expect, test } from 'vitest';
import { BILL, RELAY_TERMS } from '../../../test/chat-wire.ts';
import type { UsageReading } from '../../canonical/usage.ts';
import { HostResponseBroken } from '../wire.ts';
import { readUsage, spliceResponse } from './splice-response.ts';
import { decodeVector, encodeVector } from './vectors.ts';

type Fields = Record<string, unknown>;

const row = (embedding: unknown, index: unknown): Fields => ({ object: 'embedding', index, embedding });
const listOf = (...data: unknown[]): Fields => ({
  object: 'list',
  data,
  model: 'host-name',
  usage: { prompt_tokens: 5, total_tokens: 5 },
});

function written(answer: unknown, request: Fields): Fields {
  const body = Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer));
  return JSON.parse(
    spliceResponse(body, { ...RELAY_TERMS, request })
      .write(BILL)
      .toString(),
  ) as Fields;
}

const vectorsOf = (answer: Fields): unknown[] => (answer.data as Fields[]).map(({ embedding }) => embedding);

function broken(answer: unknown, request: Fields = { input: 'x' }): HostResponseBroken {
  try {
    written(answer, request);
  } catch (error) {
    if (error instanceof HostResponseBroken) return error;
    throw error;
  }
  throw new Error('Nothing was broken.');
}

const UNIT = [0.5, -0.5, 0.5, 0.5];
const SHORT = encodeVector(UNIT);

describe('a list of vectors', () => {
  test('keeps every byte but those of the model and the usage', () => {
    const body =
      '{ "object":"list", "data":[{"embedding":[0.50, -5e-1],"index":0,"object":"embedding"}],\n"model":"m","usage":{"total_tokens":9} }';
    const bytes = spliceResponse(Buffer.from(body), { ...RELAY_TERMS, request: { input: 'x' } })
      .write(BILL)
      .toString();
    expect(bytes).toBe(
      body
        .replace('"m"', '"bridge"')
        .replace(
          '{"total_tokens":9}',
          '{"prompt_tokens":7,"total_tokens":7,"cost":9007199.254740993,"cost_nanousd":9007199254740993}',
        ),
    );
  });

  test('loses what would name the host', () => {
    expect(written({ ...listOf(row(UNIT, 0)), provider: 'Somewhere' }, { input: 'x' })).not.toHaveProperty('provider');
  });

  test.each([
    ['float', UNIT, UNIT],
    [undefined, UNIT, UNIT],
    ['float', SHORT, UNIT],
    [undefined, SHORT, UNIT],
    ['base64', SHORT, SHORT],
    ['base64', UNIT, SHORT],
  ])('asked for as %s, whatever the host gave', (format, given, wanted) => {
    const answer = written(listOf(row(given, 0)), { input: 'x', encoding_format: format });
    expect(answer).toMatchObject({ object: 'list', model: 'bridge', data: [row(wanted, 0)] });
    expect(answer.usage).toMatchObject({ prompt_tokens: 7, total_tokens: 7 });
  });

  test('is in the order of the inputs', () => {
    const answer = written(listOf(row([3], 2), row([1], 0), row([2], 1)), { input: ['a', 'b', 'c'] });
    expect(answer.data).toEqual([row([1], 0), row([2], 1), row([3], 2)]);
    expect(vectorsOf(written(listOf({ embedding: [1] }, { embedding: [2] }), { input: ['a', 'b'] }))).toEqual([
      [1],
      [2],
    ]);
  });

  test.each([
    { data: [{ index: 0, embedding: [1] }] },
    { object: 'list', data: [{ index: 0, embedding: [1] }] },
    { data: [row([1], 0)] },
  ])('gets the list members that the host left out: %j', (answer) => {
    expect(written(answer, { input: 'x' })).toMatchObject({ object: 'list', data: [row([1], 0)] });
  });
});

describe('dimensions', () => {
  test('the host did not cut are cut here, at unit length, in either form', () => {
    const request = { input: 'x', dimensions: 2 };
    const [float] = vectorsOf(written(listOf(row(UNIT, 0)), request)) as [number[]];
    expect(float).toEqual([Math.SQRT1_2, -Math.SQRT1_2].map((value) => expect.closeTo(value, 12)));
    const [short] = vectorsOf(written(listOf(row(SHORT, 0)), { ...request, encoding_format: 'base64' })) as [string];
    expect(Array.from(decodeVector(short)!)).toEqual([Math.SQRT1_2, -Math.SQRT1_2].map(Math.fround));
  });

  test('the host cut itself pass as they are', () => {
    expect(vectorsOf(written(listOf(row([0.3, 0.4], 0)), { input: 'x', dimensions: 2 }))).toEqual([[0.3, 0.4]]);
  });

  test('fewer than were asked for are no answer', () => {
    expect(broken(listOf(row([1], 0)), { input: 'x', dimensions: 2 }).message).toContain('shorter');
  });
});

describe('what is no answer', () => {
  test.each([
    ['no JSON', '<html>'],
    ['an empty list', listOf()],
    ['no list', { data: { embedding: [1] } }],
    ['an invalid vector', listOf(row('###', 0))],
    ['a number that is missing', listOf(row([1, null], 0))],
    ['more vectors than inputs', listOf(row([1], 0), row([2], 1))],
  ])('%s', (_, answer) => {
    expect(broken(answer).hostError).toBeNull();
  });

  test.each([
    ['fewer vectors than inputs', listOf(row([1], 0))],
    ['one number twice', listOf(row([1], 0), row([2], 0))],
    ['a number beyond the list', listOf(row([1], 0), row([2], 2))],
    ['an invalid index', listOf(row([1], 0), row([2], 'x'))],
  ])('%s', (_, answer) => {
    expect(broken(answer, { input: ['a', 'b'] })).toBeInstanceOf(HostResponseBroken);
  });

  test('one number twice and one not at all', () => {
    const answer = listOf(row([1], 0), row([2], 2), row([3], 2));
    expect(broken(answer, { input: ['a', 'b', 'c'] }).message).toContain('invalid or repeated indexes');
  });

  test('is the host’s error where one stands in its place', () => {
    expect(broken({ error: { message: 'too many requests', code: 429 } }).hostError).toMatchObject({ kind: 'rate' });
  });
});

describe('usage', () => {
  const reported = (freshTokens: number): UsageReading => ({
    state: 'reported',
    usage: {
      freshTokens,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
    },
  });

  test.each([
    [{ prompt_tokens: 9, total_tokens: 9 }, reported(9)],
    [{ total_tokens: 5 }, reported(5)],
    [{ prompt_tokens: 0, total_tokens: 0 }, reported(0)],
    [undefined, { state: 'missing' }],
    [null, { state: 'missing' }],
    [{}, { state: 'missing', defect: "the host's prompt tokens are not a valid count" }],
    ['7', { state: 'missing', defect: "the host's prompt tokens are not a valid count" }],
    [
      { prompt_tokens: -1, total_tokens: 3 },
      { state: 'missing', defect: "the host's prompt tokens are not a valid count" },
    ],
    [{ prompt_tokens: 1.5 }, { state: 'missing', defect: "the host's prompt tokens are not a valid count" }],
  ])('%j', (raw, reading) => {
    expect(readUsage(raw)).toEqual(reading);
  });
});
