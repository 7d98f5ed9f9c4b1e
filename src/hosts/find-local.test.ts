import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ManualClock, systemClock } from '../kit/clock.ts';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import { findLocalHosts } from './find-local.ts';
import type { ConfiguredHost, LocalServer } from './host.ts';
import { HOST_ROWS } from './rows.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const listing =
  (...data: unknown[]): RequestListener =>
  (_request, response) =>
    response.end(JSON.stringify({ object: 'list', data }));

const ROW = HOST_ROWS.find(({ name }) => name === 'ollama')!;

function local(
  name: string,
  baseUrl: string,
  more: Partial<ConfiguredHost> = {},
  server?: LocalServer,
): ConfiguredHost {
  const row = { ...ROW, name, baseUrl, ...(server !== undefined && { local: server }) };
  return { row, key: null, keySource: null, local: true, models: [], ...more };
}

const foundAt = (hosts: readonly ConfiguredHost[]) =>
  hosts.map(({ row, found }) => [row.name, found?.map(({ id }) => id)]);

test('a server gets its key as its row says', async () => {
  const seen: unknown[] = [];
  const url = await serve((request, response) => {
    seen.push([request.headers.authorization, request.headers['api-key']]);
    listing({ id: 'llama:3b' })(request, response);
  });
  const host = local('a', url, { key: new Secret('k-1') });
  const alone = { ...host, row: { ...host.row, auth: { header: 'api-key', scheme: null } as const } };
  await findLocalHosts([host], [], systemClock);
  await findLocalHosts([alone], [], systemClock);
  expect(seen).toEqual([
    ['Bearer k-1', undefined],
    [undefined, 'k-1'],
  ]);
});

test('a server that answers on a usual port becomes a host with the models it lists; a silent port does not', async () => {
  const paths: string[] = [];
  const url = await serve((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    listing({ id: 'llama:3b' }, { id: 'nomic-embed-text', context_length: 2048 })(request, response);
  });
  const gone = await serve(listing());
  await new Promise((resolve) => servers.pop()!.close(resolve));
  const { hosts, silent } = await findLocalHosts([], [local('a', url), local('b', gone)], systemClock);
  expect(foundAt(hosts)).toEqual([['a', ['llama:3b', 'nomic-embed-text']]]);
  expect(hosts[0]?.found).toMatchObject([
    { model: 'llama:3b', contextWindow: null, maxOutputTokens: null },
    { contextWindow: 2048, maxOutputTokens: 0, caps: ['embeddings'] },
  ]);
  expect(silent).toEqual([]);
  expect(paths).toEqual(['GET /v1/models']);
});

test('a configured server that does not answer stays configured and is reported', async () => {
  const gone = await serve(listing());
  await new Promise((resolve) => servers.pop()!.close(resolve));
  const vendor = { ...local('vendor', 'https://vendor.example/v1'), row: HOST_ROWS[0]! };
  const listed = { models: [{ id: 'x', model: 'x', contextWindow: null, maxOutputTokens: null }] };
  const configured = [vendor, local('mute', gone), local('listed', gone, listed)];
  const { hosts, silent } = await findLocalHosts(configured, [], systemClock);
  expect(foundAt(hosts)).toEqual([
    ['openai', undefined],
    ['mute', undefined],
    ['listed', undefined],
  ]);
  expect(silent).toEqual(['mute']);
});

test('a server that takes too long is given up at the time limit', async () => {
  let asked: () => void;
  const waiting = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const url = await serve(() => asked());
  const clock = new ManualClock();
  const looking = findLocalHosts([], [local('slow', url)], clock);
  await waiting;
  expect(clock.fallsDueIn(LIMITS.localHostMs)).toBe(true);
  clock.advance(LIMITS.localHostMs);
  expect((await looking).hosts).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

test.each<[string, RequestListener]>([
  ['something that is not JSON', (_request, response) => response.end('<html>')],
  ['a list of nothing we know', (_request, response) => response.end('{"models":[]}')],
  ['an error', (_request, response) => response.writeHead(404).end('{"data":[]}')],
  ['a redirect', (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  [
    'a gateway like this one',
    (request, response) => {
      response.setHeader('x-gateway-request-id', 'req_1');
      listing({ id: 'gpt' })(request, response);
    },
  ],
  ['more than anyone lists', (_request, response) => response.end('x'.repeat(LIMITS.localHostBytesMax + 1))],
])('a server that answers with %s is not used', async (_name, listener) => {
  const url = await serve(listener);
  expect((await findLocalHosts([], [local('a', url)], systemClock)).hosts).toEqual([]);
});

test('on a port that other programs use too, the models must name their owner', async () => {
  const url = await serve(listing({ id: 'm', owned_by: 'vllm', max_model_len: 4096 }));
  const stranger = await serve(listing({ id: 'm', owned_by: 'someone' }));
  const owner = { port: 8000, owner: 'vllm' };
  const guesses = [local('a', url, {}, owner), local('b', stranger, {}, owner)];
  const { hosts } = await findLocalHosts([], guesses, systemClock);
  expect(foundAt(hosts)).toEqual([['a', ['m']]]);
  expect(hosts[0]?.found?.[0]?.contextWindow).toBe(4096);
});

test('a configured key is sent, invalid model names are skipped, and the list is limited', async () => {
  const seen: unknown[] = [];
  const many = Array.from({ length: LIMITS.localHostModelsMax + 5 }, (_, at) => ({ id: `m${at}` }));
  const url = await serve((request, response) => {
    seen.push(request.headers.authorization);
    listing({ id: 'a b' }, { id: '' }, { id: 7 }, null, { id: 'x'.repeat(201) }, ...many)(request, response);
  });
  const { hosts } = await findLocalHosts([local('a', url, { key: new Secret('word') })], [], systemClock);
  expect(hosts[0]?.found).toHaveLength(LIMITS.localHostModelsMax);
  expect(hosts[0]?.found?.[0]?.id).toBe('m0');
  expect(seen).toEqual(['Bearer word']);
});
