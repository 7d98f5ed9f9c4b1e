import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHAT_FRAMES, DEPLOYMENT, NO_DEPLOYMENT, startResource } from './cloud-resource.ts';
import { API_KEY, CustodyFixture, readRefusal } from './custody-fixture.ts';

const UNUSABLE = 'The provider "cloud" sent a response that cannot be used. Nothing was charged.';

let custody: CustodyFixture;

beforeAll(async () => {
  custody = await CustodyFixture.start();
});
beforeEach(() => custody.renew());
afterAll(() => custody.stop());

describe('when the provider does not answer well', () => {
  beforeEach(async () => {
    await custody.putKey();
    custody.resource.reset();
  });

  test('a name it does not serve: its own error, status and body', async () => {
    for (const stream of [false, true]) {
      const answer = await custody.chat('not-there', { stream });
      expect([answer.status, await answer.text()]).toEqual([404, NO_DEPLOYMENT.body]);
      await custody.expectFree(answer);
    }
  });

  test.each([400, 402, 404, 409, 413, 422, 429, 500, 503])('its own %i comes as it is', async (status) => {
    const body = `{"error":{"message":"of status ${status}","type":"t","code":"c","param":null,"more":{"a":1}}}`;
    custody.resource.answer = () => ({ status, body });
    const answer = await custody.chat(DEPLOYMENT);
    expect([answer.status, await answer.text()]).toEqual([status, body]);
    expect(answer.headers.get('x-should-retry')).toBe(
      status < 500 && status !== 409 && status !== 429 ? 'false' : null,
    );
    await custody.expectFree(answer);
    expect(custody.resource.calls).toHaveLength(1);
  });

  test.each([
    [{ 'retry-after': '7' }, '7'],
    [{ 'retry-after-ms': '1200' }, '2'],
    [{ 'retry-after': '0' }, '1'],
    [{}, '1'],
  ])('its 429 with the headers %j says when to try again', async (headers: Record<string, string>, seconds) => {
    custody.resource.answer = () => ({ status: 429, headers, body: '{"error":{"message":"slow down"}}' });
    for (const stream of [false, true]) {
      const answer = await custody.chat(DEPLOYMENT, { stream });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, seconds]);
      expect(await answer.text()).toBe('{"error":{"message":"slow down"}}');
    }
  });

  test.each([401, 403])('its %i is the stored row’s failure', async (status) => {
    custody.resource.answer = () => ({ status, body: `{"error":{"message":"bad key ${API_KEY}"}}` });
    const answer = await custody.chat(DEPLOYMENT);
    await custody.expectFree(answer);
    const refused = await readRefusal(answer);
    expect(refused).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(refused.message).toContain('"cloud" refused the stored key');
  });

  test('a key that was changed at the provider is the row’s failure, until it is stored again', async () => {
    custody.resource.key = 'the-key-after-it-was-rolled-over';
    expect((await custody.chat(DEPLOYMENT)).status).toBe(422);
    await custody.putKey({ api_key: custody.resource.key });
    expect((await custody.chat(DEPLOYMENT)).status).toBe(200);
  });

  test('an error that quotes the key does not tell it', async () => {
    custody.resource.answer = () => ({ status: 400, body: `{"error":{"message":"you sent ${API_KEY} and more"}}` });
    const answer = await custody.chat(DEPLOYMENT);
    expect(await answer.text()).toBe('{"error":{"message":"you sent [key] and more"}}');
  });

  test('a page for people is told in our envelope, with its status', async () => {
    custody.resource.answer = () => ({
      status: 502,
      headers: { 'content-type': 'text/html' },
      body: '<html>Bad gateway</html>',
    });
    expect(await readRefusal(await custody.chat(DEPLOYMENT))).toMatchObject({ status: 502, type: 'upstream_error' });
  });

  test('a redirect is not followed, and nobody learns where it led', async () => {
    custody.harness.sim.reset();
    custody.resource.answer = () => ({
      status: 302,
      headers: { location: `${custody.harness.sim.url}/v1/chat/completions` },
      body: '',
    });
    const answer = await custody.chat(DEPLOYMENT);
    expect([answer.status, answer.headers.get('location')]).toEqual([502, null]);
    expect(custody.harness.sim.calls).toHaveLength(0);
    await custody.expectFree(answer);
    expect((await readRefusal(answer)).message).toContain('redirect (302), which is not followed');
  });

  test('an error inside a stream ends it, in the provider’s own words', async () => {
    const error = 'data: {"error":{"message":"ran out","code":"own_code","type":"server_error"}}\n\n';
    const frames = [...CHAT_FRAMES.slice(0, 3), error].join('');
    custody.resource.answer = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: frames });
    const answer = await custody.chat(DEPLOYMENT, { stream: true });
    expect([answer.status, await answer.text()]).toEqual([200, frames]);
  });

  test('a stream that breaks off never ends as if it were whole', async () => {
    const frames = CHAT_FRAMES.slice(0, 3).join('');
    custody.resource.answer = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: frames });
    const answer = await custody.chat(DEPLOYMENT, { stream: true });
    const text = await answer.text();
    expect(text.startsWith(frames)).toBe(true);
    expect(text).not.toContain('[DONE]');
    expect(text.slice(frames.length)).toContain(
      'The provider \\"cloud\\" did not finish its response. Nothing was charged.',
    );
  });

  test('a list for an answer is none; a list for its usage is passed on as it is', async () => {
    custody.resource.answer = () => ({ status: 200, body: '[]' });
    expect((await custody.chat(DEPLOYMENT)).status).toBe(502);
    const body = '{"choices":[],"usage":[]}';
    custody.resource.answer = () => ({ status: 200, body });
    const answer = await custody.chat(DEPLOYMENT);
    expect([answer.status, await answer.text()]).toEqual([200, body]);
    await custody.expectFree(answer);
  });

  test('a status beyond all statuses is 502', async () => {
    custody.resource.answer = () => ({ status: 799, body: '{"error":{"message":"odd"}}' });
    expect((await custody.chat(DEPLOYMENT)).status).toBe(502);
  });

  test('a response that is not JSON is an error', async () => {
    custody.resource.answer = () => ({ status: 200, body: 'hello' });
    expect(await readRefusal(await custody.chat(DEPLOYMENT))).toMatchObject({
      status: 502,
      code: 'host_failed',
      message: 'The provider "cloud" sent a response that is not a JSON object. Nothing was charged.',
    });
  });

  test.each([false, true])('a compressed response is named as its own, streamed: %s', async (stream) => {
    const headers = { 'content-encoding': 'gzip' };
    custody.resource.answer = () => ({ status: 200, headers, body: '{}' });
    const refused = await readRefusal(await custody.chat(DEPLOYMENT, { stream }));
    expect(refused).toMatchObject({ status: 502, message: UNUSABLE });
  });

  test('a page in place of a stream is named as its own', async () => {
    custody.resource.answer = () => ({ status: 200, body: '<html>' });
    const refused = await readRefusal(await custody.chat(DEPLOYMENT, { stream: true }));
    expect(refused).toMatchObject({ status: 502, message: UNUSABLE });
  });

  test('a resource that is unreachable is told by the provider’s name, and nothing is charged', async () => {
    const gone = await startResource(API_KEY);
    await custody.putKey({ base_url: gone.baseUrl });
    await gone.close();
    const answer = await custody.chat(DEPLOYMENT);
    await custody.expectFree(answer);
    const refused = await readRefusal(answer);
    expect(refused).toMatchObject({ status: 502, type: 'upstream_error', code: 'host_failed' });
    expect(refused.message).toContain('"cloud"');
  });
});
