import { type QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from './client.ts';
import { createQueryClient } from './queries.ts';

const OK = 200;
const WHO_READS = ['GET /me', 'GET /accounts'];
let client: QueryClient;
/** How the next reads of a route are refused. */
let statuses: Record<string, number[]>;
let asked: string[];

beforeEach(() => {
  [client, statuses, asked] = [createQueryClient(), {}, []];
});
afterEach(() => client.unmount());

function observe(route: string): { refetch(): Promise<unknown> } {
  const observer = new QueryObserver(client, {
    queryKey: [route, {}],
    queryFn: async () => {
      asked.push(route);
      const status = statuses[route]?.shift();
      if (status !== undefined) throw new ApiError(status, 'refused', 'No.', null);
      return {};
    },
  });
  observer.subscribe(() => undefined);
  return observer;
}

/** Reads the route once for each status, after everything that a page of its own reads. */
async function refuse(route: string, refusals: readonly number[]): Promise<string[]> {
  const routes = new Set([...WHO_READS, route]);
  const observers = new Map([...routes].map((each) => [each, observe(each)]));
  await vi.waitFor(() => expect(client.isFetching()).toBe(0));
  asked = [];
  for (const status of refusals) {
    statuses[route] = status === OK ? [] : [status];
    await observers.get(route)!.refetch();
    await vi.waitFor(() => expect(client.isFetching()).toBe(0));
  }
  return asked;
}

test.each([403, 404])('reads again who is signed in, and the accounts, after a refusal with %i', async (status) => {
  expect(await refuse('GET /keys', [status])).toEqual(['GET /keys', ...WHO_READS]);
});

test.each(['GET /keys', 'GET /accounts'])(
  'reads again only who is signed in when a session that has ended is noticed by %s',
  async (route) => {
    expect(await refuse(route, [401])).toEqual([route, 'GET /me']);
  },
);

test('reads nothing again when the accounts are not allowed', async () => {
  expect(await refuse('GET /accounts', [403])).toEqual(['GET /accounts']);
});

test('reads nothing again when it is refused who is signed in', async () => {
  expect(await refuse('GET /me', [403])).toEqual(['GET /me']);
});

test('reads nothing again after an error that says nothing about who is signed in', async () => {
  expect(await refuse('GET /keys', [409])).toEqual(['GET /keys']);
});

test('looks once who is signed in, however often the same query is refused in the same way', async () => {
  const looksAgain = ['GET /keys', ...WHO_READS];
  expect(await refuse('GET /keys', [404, 404, 401, OK, 401])).toEqual([
    ...looksAgain,
    'GET /keys',
    'GET /keys',
    'GET /me',
    'GET /keys',
    'GET /keys',
    'GET /me',
  ]);
});
