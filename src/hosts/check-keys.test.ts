import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock, systemClock } from '../kit/clock.ts';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import { checkKeys } from './check-keys.ts';
import type { ConfiguredHost } from './host.ts';
import { HOST_ROWS } from './rows.ts';

let server: Server;
let answer: number | 'nothing';
let asked: { url: string | undefined; headers: Record<string, unknown> }[];
let reached: () => void;

beforeEach(async () => {
  asked = [];
  answer = 200;
  reached = () => undefined;
  server = createServer(({ url, headers }, response) => {
    asked.push({ url, headers });
    if (answer !== 'nothing') response.writeHead(answer).end('{"data":[]}');
    reached();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function host(name: string, change: Partial<ConfiguredHost> = {}): ConfiguredHost {
  const row = HOST_ROWS.find((one) => one.name === name)!;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { row: { ...row, baseUrl }, key: new Secret('sk-1'), keySource: 'A_KEY', local: false, models: [], ...change };
}

test('asks each host for its models, with the key in the header that the host wants', async () => {
  const checked = await checkKeys([host('openai'), host('anthropic')], { 'x-version': '1' }, systemClock);
  expect(checked).toEqual([
    { host: 'openai', keySource: 'A_KEY', verdict: { kind: 'accepted' } },
    { host: 'anthropic', keySource: 'A_KEY', verdict: { kind: 'accepted' } },
  ]);
  expect(asked.map(({ url }) => url)).toEqual(['/v1/models', '/v1/models']);
  const headers = asked.map(({ headers: { authorization, ...rest } }) => [authorization, rest['x-api-key']]);
  expect(headers.toSorted()).toEqual(
    [
      ['Bearer sk-1', undefined],
      [undefined, 'sk-1'],
    ].toSorted(),
  );
  expect(asked.every(({ headers: sent }) => sent['x-version'] === '1')).toBe(true);
});

test.each([
  [401, { kind: 'rejected', status: 401 }],
  [403, { kind: 'rejected', status: 403 }],
  [404, { kind: 'unknown', status: 404 }],
  [500, { kind: 'unknown', status: 500 }],
] as const)('judges status %d', async (status, verdict) => {
  answer = status;
  expect((await checkKeys([host('openai')], {}, systemClock))[0]?.verdict).toEqual(verdict);
});

test('does not ask hosts without a key, nor the simulated host', async () => {
  expect(await checkKeys([host('openai', { key: null }), host('sim')], {}, systemClock)).toEqual([]);
  expect(asked).toEqual([]);
});

test('gives up on a host that does not answer in time, and names what keeps it from answering', async () => {
  answer = 'nothing';
  const clock = new ManualClock();
  const wasReached = new Promise<void>((resolve) => (reached = resolve));
  const checking = checkKeys([host('openai')], {}, clock);
  await wasReached;
  clock.advance(LIMITS.hostKeyCheckMs);
  expect((await checking)[0]?.verdict).toEqual({ kind: 'unreachable', reason: 'no answer within 5 seconds' });
  const gone = host('openai', { row: { ...host('openai').row, baseUrl: 'http://127.0.0.1:1/v1' } });
  expect((await checkKeys([gone], {}, systemClock))[0]?.verdict).toEqual({
    kind: 'unreachable',
    reason: 'ECONNREFUSED',
  });
});
