import { describe, expect, test, vi } from 'vitest';
import { ask, type Body, GatewayFixture } from '../../test/gateway-fixture.ts';
import { CheckedJson } from '../json/json.ts';

/** Calls for models that are not served here. */

async function refused(body: Body, headers: Record<string, string> = {}) {
  const fixture = await GatewayFixture.open();
  const parse = vi.spyOn(CheckedJson.prototype, 'parse');
  const { sink, done } = fixture.begin(body, headers);
  await done;
  const parses = parse.mock.calls.length;
  parse.mockRestore();
  const { error } = JSON.parse(sink.text) as { error: { code: string; param: string; message: string } };
  return { fixture, parses, status: sink.sent!.status, headers: sink.sent!.headers, error };
}

test.each(['no-such-model', 'somebody/no-such-model', 'ferry:online', 'cloud/mine'])(
  '%s is refused before the body is parsed, with the name in the headers',
  async (model) => {
    const { fixture, parses, status, headers, error } = await refused(ask({ model }));
    expect(parses).toBe(0);
    expect([status, error.param]).toEqual([model.endsWith(':online') ? 400 : 404, 'model']);
    expect(headers['x-gateway-requested-model']).toBe(model);
    expect(fixture.records[0]).toMatchObject({ requestedModel: model, effectiveModel: null, ended: 'refused' });
    expect(fixture.trace.filter((note) => note === 'hold')).toEqual([]);
  },
);

describe('a body is checked as a whole before its model is looked up if the name is one', () => {
  test.each([
    ['with an escape', '{"model":"no\\u002dsuch","messages":[{"role":"user","content":"Hi"}]}', 'model_not_found'],
    [
      'of a key with an escape',
      '{"mod\\u0065l":"no-such","messages":[{"role":"user","content":"Hi"}]}',
      'model_not_found',
    ],
    ['that is empty', ask({ model: '' }), 'invalid_value'],
    ['that is a number', ask({ model: 5 }), 'invalid_value'],
    ['that is too long', ask({ model: 'x'.repeat(201) }), 'invalid_value'],
    ['with a raw control character', '{"model":"no\u0001such","messages":[]}', 'invalid_request_body'],
  ])('%s', async (_what, body, code) => {
    const { error } = await refused(body);
    expect(error.code).toBe(code);
  });
});

test('errors about headers come first', async () => {
  const { error } = await refused(ask({ model: 'no-such' }), { 'x-gateway-on-unsupported': 'maybe' });
  expect(error.param).toBe('x-gateway-on-unsupported');
});

test('a body with invalid JSON is refused as such', async () => {
  const { error } = await refused('{"model":"no-such","messages":[}');
  expect(error.code).toBe('invalid_request_body');
});

test('a model that is served is parsed once', async () => {
  const fixture = await GatewayFixture.open();
  const parse = vi.spyOn(CheckedJson.prototype, 'parse');
  const { sink, done, asked } = fixture.begin(ask());
  await asked();
  sink.leave();
  fixture.clock.advance(1_000_000);
  await done;
  expect(parse).toHaveBeenCalledOnce();
  parse.mockRestore();
});
