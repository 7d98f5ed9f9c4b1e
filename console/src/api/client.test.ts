import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { call } from './client.ts';
import { serverStatus } from './server-status.ts';

beforeEach(() => {
  serverStatus.reached(true);
  vi.stubGlobal('sessionStorage', { getItem: () => null });
});
afterEach(() => void vi.unstubAllGlobals());

const broken = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError('network error')) }));

test.each([
  ['is not answered', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['is not answered to its end', () => Promise.resolve(broken())],
])('a request that %s says that the gateway cannot be reached', async (_how, answer) => {
  vi.stubGlobal('fetch', answer);
  await expect(call('GET /me', {})).rejects.toMatchObject({
    name: 'ApiError',
    status: 0,
    message: 'The gateway cannot be reached. Check that it is running.',
  });
  expect(serverStatus.isAway).toBe(true);
});

test('a request that the page gave up says so, and nothing about the gateway', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new DOMException('gone', 'AbortError')));
  await expect(call('GET /me', {})).rejects.toMatchObject({ name: 'AbortError' });
  expect(serverStatus.isAway).toBe(false);
});
