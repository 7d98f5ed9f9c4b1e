import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { BILL, jsonText, RELAY_TERMS, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import { corpusRecordings, ownRecordings, withServer } from '../../../test/small-wires.ts';
import { embeddings } from './index.ts';
import { peek } from './peek.ts';
import { decodeVector, readVector } from './vectors.ts';

const CORPUS = corpusRecordings('openai-embeddings');
const ALL = [...ownRecordings('embeddings'), ...CORPUS];
const ANSWERS = ALL.filter(({ status }) => status === 200);
const ERRORS = ALL.filter(({ status }) => status !== 200);

interface Row {
  readonly index: number;
  readonly embedding: unknown;
}

/** The vectors of a host's answer in the order of its inputs, read without code of the wire but for the short form. */
function vectorsIn(body: Buffer): number[][] {
  const { data } = JSON.parse(body.toString()) as { data: Row[] };
  return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => Array.from(readVector(embedding)!));
}

const rounded = (vectors: number[][]): number[][] => vectors.map((vector) => vector.map(Math.fround));

test.skipIf(CORPUS.length > 0)('recorded traffic is not on this machine: only own recordings are read', () => {
  expect(ALL.length).toBeGreaterThan(0);
});

describe('requests', () => {
  test.each(ALL)('$id: what the caller sent reaches the host as it was written', ({ request }) => {
    const text = jsonText(request.toString());
    const { model } = text.value as { model: string };
    const sent = embeddings.relay.spliceRequest(text, peek(text), { ...UPSTREAM_TERMS, hostModel: model });
    expect(sent.equals(request)).toBe(true);
  });
});

describe('the official client', () => {
  test.each(ANSWERS)('reads $id: $covers', async ({ body, request, usage }) => {
    const { input } = JSON.parse(request.toString()) as { input: string };
    const asked: unknown[] = [];
    const ask = async (more: object) =>
      await withServer(
        (_path, sent) => {
          const text = jsonText(sent.toString());
          asked.push((text.value as { encoding_format?: unknown }).encoding_format);
          const answer = embeddings.relay.spliceResponse(body, { ...RELAY_TERMS, request: text.value });
          expect(answer.usage).toMatchObject({
            state: 'reported',
            usage: { freshTokens: usage!.prompt_tokens ?? usage!.total_tokens },
          });
          return { body: answer.write(BILL) };
        },
        (origin) =>
          new OpenAI({ apiKey: 'unused', baseURL: `${origin}/v1`, maxRetries: 0 }).embeddings.create({
            model: 'bridge',
            input,
            ...more,
          }),
      );
    const vectors = vectorsIn(body);
    for (const more of [{}, { encoding_format: 'float' as const }]) {
      const read = await ask(more);
      expect(read.object).toBe('list');
      expect(read.data.map(({ index }) => index)).toEqual(vectors.map((_, at) => at));
      expect(rounded(read.data.map(({ embedding }) => embedding))).toEqual(rounded(vectors));
      expect(read.usage).toMatchObject({ prompt_tokens: 7, total_tokens: 7 });
    }
    expect(asked).toEqual(['base64', 'float']);
  });

  test('gets what it asks for in the short form', async () => {
    const { body } = ALL.find(({ id }) => id === 'float')!;
    const request = { input: 'x', encoding_format: 'base64' };
    const answer = JSON.parse(
      embeddings.relay
        .spliceResponse(body, { ...RELAY_TERMS, request })
        .write(BILL)
        .toString(),
    );
    expect(rounded([Array.from(decodeVector(answer.data[0].embedding)!)])).toEqual(rounded(vectorsIn(body)));
  });
});

describe('recorded vectors', () => {
  test.each(ANSWERS)('$id: unit length, whole and cut', ({ body, request }) => {
    for (const vector of vectorsIn(body)) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    const reduced = { ...(JSON.parse(request.toString()) as object), encoding_format: 'float', dimensions: 5 };
    const answer = embeddings.relay.spliceResponse(body, { ...RELAY_TERMS, request: reduced }).write(BILL);
    for (const vector of vectorsIn(answer)) {
      expect(vector).toHaveLength(5);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 12);
    }
  });
});

describe('errors', () => {
  test.each(ERRORS)('$id: $covers', ({ body, status }) => {
    const error = embeddings.relay.readError(status, body);
    expect(error.status).toBe(status);
    expect(error.kind).toBe(status === 404 ? 'credentials' : 'request');
    expect(error.message).toMatch(/model/i);
  });
});
