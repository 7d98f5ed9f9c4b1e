import { expect, test } from 'vitest';
import { jsonText, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import type { UpstreamTerms } from '../wire.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';

function write(body: unknown, terms: Partial<UpstreamTerms> = {}): string {
  const text = jsonText(body);
  return spliceRequest(text, peek(text), { ...UPSTREAM_TERMS, ...terms }).toString();
}

const ASK = { model: 'bridge', input: 'x' };

test('what leaves is what the caller wrote, to the byte', () => {
  const body =
    '{ "input" : ["\\u0041", "b"] ,"encoding_format":"base64","input_type":"query", "truncation":false,"model":"bridge"}';
  expect(write(body)).toBe(body);
});

test('a host that reduces is asked to, any other is not', () => {
  const body = { ...ASK, dimensions: 256 };
  expect(JSON.parse(write(body, { reducesVectors: true }))).toEqual(body);
  expect(JSON.parse(write(body, { reducesVectors: false }))).toEqual(ASK);
});

test('no output limit is added, and the host’s own name for the model is', () => {
  expect(JSON.parse(write(ASK, { hostModel: 'host-name' }))).toEqual({ model: 'host-name', input: 'x' });
});

test('nothing leaves that only this gateway understands, nor who the user is', () => {
  const body = {
    ...ASK,
    stream: false,
    usage: { include: true },
    models: ['bridge'],
    store: false,
    user: 'u',
    metadata: {},
  };
  expect(JSON.parse(write(body))).toEqual(ASK);
  expect(JSON.parse(write(body, { forwards: ['user'] }))).toEqual({ ...ASK, user: 'u' });
});

test('a host that cuts long inputs unless told not to is told, and one word it does not know is kept from it', () => {
  const quirks = { omits: ['encoding_format'], adds: { truncation: false } };
  const body = { ...ASK, encoding_format: 'float' };
  expect(JSON.parse(write(body, { quirks }))).toEqual({ ...ASK, truncation: false });
  expect(JSON.parse(write({ ...body, truncation: false }, { quirks }))).toEqual({ ...ASK, truncation: false });
});
