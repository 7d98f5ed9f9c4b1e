import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { callRaw, type RawAnswer } from './raw-client.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({
    config: { allowedHosts: ['gateway.example'], origins: ['https://console.example'] },
  });
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };

/** With Host and Origin headers, which fetch does not allow to be set. */
function ask(headers: Record<string, string>, method = 'POST', path = '/v1/chat/completions'): Promise<RawAnswer> {
  return callRaw(harness.url + path, method === 'POST' ? ASK : undefined, { method, headers });
}

function codeOf({ text }: RawAnswer): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code;
}

describe('the Host header', () => {
  const port = () => new URL(harness.url).port;

  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', 'gateway.example'])('%s is ours', async (host) => {
    for (const value of [host, `${host}:${port()}`, `${host}:80`]) {
      expect([value, (await ask({ host: value })).status]).toEqual([value, 200]);
    }
  });

  test.each(['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', 'evil.example:8080', '[::2]'])(
    'a name that was bound to this machine by someone else is refused: "%s"',
    async (host) => {
      for (const [method, path] of [
        ['POST', '/v1/chat/completions'],
        ['GET', '/v1/models'],
        ['GET', '/v1/catalog'],
        ['GET', '/metrics'],
        ['GET', '/livez'],
        ['HEAD', '/'],
        ['GET', '/nowhere'],
      ]) {
        const answer = await ask({ host }, method, path);
        expect([path, answer.status]).toEqual([path, 403]);
        if (method === 'HEAD') continue;
        expect(codeOf(answer)).toBe('forbidden_host');
        expect(answer.text).toContain('--allowed-hosts');
        expect(answer.headers['x-gateway-request-id']).toMatch(/^req_/);
      }
      expect(harness.sim.calls).toHaveLength(0);
    },
  );
});

describe('the Origin header', () => {
  test.each(['https://evil.example', 'http://127.0.0.1.evil.example', 'null', 'nonsense'])(
    'a foreign page is refused: "%s"',
    async (origin) => {
      const answer = await ask({ origin });
      expect([answer.status, codeOf(answer)]).toEqual([403, 'forbidden_origin']);
      expect(answer.text).toContain('--allowed-hosts');
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      const preflight = await ask({ origin, 'access-control-request-method': 'POST' }, 'OPTIONS');
      expect([preflight.status, codeOf(preflight)]).toEqual([403, 'forbidden_origin']);
      expect(preflight.text).toContain('--origins');
      expect(harness.sim.calls).toHaveLength(0);
    },
  );

  test.each(['http://localhost:3000', 'http://127.0.0.1:8080', 'http://[::1]', 'http://gateway.example'])(
    "a page of this machine, or of a host that was allowed, may call, but reads only if its origin is listed: '%s'",
    async (origin) => {
      const answer = await ask({ origin });
      expect(answer.status).toBe(200);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      const preflight = await ask({ origin, 'access-control-request-method': 'POST' }, 'OPTIONS');
      expect(preflight.status).toBe(403);
      expect(preflight.text).toContain('--origins');
    },
  );

  test('a listed origin may call and read, after its preflight', async () => {
    const origin = 'https://console.example';
    const preflight = await ask(
      { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type, x-custom' },
      'OPTIONS',
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers['x-gateway-request-id']).toMatch(/^req_/);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'content-type, x-custom',
    });
    const answer = await ask({ origin });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect(answer.headers['access-control-expose-headers']).toContain('x-gateway-cost-nanousd');
    const stream = await callRaw(
      `${harness.url}/v1/chat/completions`,
      { ...ASK, stream: true },
      { headers: { origin } },
    );
    expect(stream.headers['access-control-allow-origin']).toBe(origin);
    const refused = await callRaw(`${harness.url}/v1/chat/completions`, {}, { headers: { origin } });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([400, origin]);
  });

  test('a form of a foreign page cannot post: its type is no JSON', async () => {
    const answer = await ask({ 'content-type': 'text/plain' });
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('keys', () => {
  test('are not needed, and those of other services are ignored', async () => {
    for (const headers of [{}, { authorization: 'Bearer sk-whatever' }, { 'x-api-key': 'sk-whatever' }]) {
      expect((await harness.post(ASK, headers)).status).toBe(200);
    }
    const { key, unlimited } = (await (await harness.get('/v1/balance')).json()) as {
      key: null;
      unlimited: boolean;
    };
    expect({ key, unlimited }).toEqual({ key: null, unlimited: true });
  });

  test('the local account is never refused: its spend is recorded, below zero', async () => {
    const before = await readBalance();
    const cost = Number((await harness.post(ASK)).headers.get('x-gateway-cost-nanousd'));
    const after = await readBalance();
    expect(after.spent_nanousd - before.spent_nanousd).toBe(cost);
    expect(after.balance_nanousd).toBe(before.balance_nanousd - cost);
    expect(after.balance_nanousd).toBeLessThan(0);
  });

  test('of this gateway are honoured: account, cap and models', async () => {
    const minted = await harness.mint({ creditNanousd: 100n, models: ['sim-gpt'] });
    const headers = { authorization: `Bearer ${minted.secret}` };
    expect((await harness.post(ASK, headers)).status).toBe(402);
    expect((await harness.post({ ...ASK, model: 'sim-gpt-mini' }, headers)).status).toBe(404);
    expect(await readBalance(headers)).toMatchObject({ unlimited: false, balance_nanousd: 100 });
    const other = await harness.mint();
    expect((await harness.post(ASK, { ...headers, 'x-api-key': other.secret })).status).toBe(401);
  });
});

interface BalanceBody {
  readonly unlimited: boolean;
  readonly balance_nanousd: number;
  readonly spent_nanousd: number;
}

async function readBalance(headers: Record<string, string> = {}): Promise<BalanceBody> {
  return (await (await harness.get('/v1/balance', headers)).json()) as BalanceBody;
}

describe('health and metrics', () => {
  test('answer on the one port there is', async () => {
    expect(harness.running.operationsUrl).toBeNull();
    expect(await (await harness.get('/livez')).json()).toEqual({ status: 'ok' });
    expect(await (await harness.get('/readyz')).json()).toEqual({ status: 'ok' });
    await harness.post(ASK);
    const metrics = await harness.get('/metrics');
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    const text = await metrics.text();
    expect(text).toContain('tollgate_cost_nanousd_total{model="sim-gpt"}');
    expect(text).toContain('tollgate_calls_under_way 0');
  });
});
