import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { call } from './client.ts';
import { serverStatus } from './server-status.ts';

beforeEach(() => {
  serverStatus.reached(true);
  vi.stubGlobal('sessionStorage', { getItem: () => null });
});
afterEach(() => void vi.unstubAllGlobals());

const broken = (status = 200): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError('network error')) }), {
    status,
  });
const unanswered = (): Promise<Response> => Promise.reject(new TypeError('Failed to fetch'));
const UNKNOWN = 'It is not known whether the change was made. Look at the list before you repeat it.';

test('a read that is not answered says that the gateway cannot be reached', async () => {
  vi.stubGlobal('fetch', unanswered);
  await expect(call('GET /me', {})).rejects.toMatchObject({
    name: 'ApiError',
    status: 0,
    message: 'The gateway cannot be reached. Check that it is running.',
  });
  expect(serverStatus.isAway).toBe(true);
});

test('a read that is not answered to its end may be tried again, and the gateway is not away', async () => {
  vi.stubGlobal('fetch', async () => broken());
  await expect(call('GET /me', {})).rejects.toMatchObject({
    ...{ name: 'ApiError', mayPass: true, isAway: false, message: 'The response of the gateway broke off. Try again.' },
  });
  expect(serverStatus.isAway).toBe(false);
});

test.each([
  ['is not answered', unanswered, `The gateway cannot be reached. ${UNKNOWN}`],
  ['is not answered to its end', async () => broken(), `The response of the gateway broke off. ${UNKNOWN}`],
])('a change that %s says that it is not known whether it was made', async (_how, answer, message) => {
  vi.stubGlobal('fetch', answer);
  await expect(call('POST /keys', { account: 'acme' })).rejects.toMatchObject({ message });
});

test('a change that a proxy answers for says that it is not known whether it was made', async () => {
  vi.stubGlobal('fetch', async () => new Response('<html>Gateway Time-out</html>', { status: 504 }));
  const message = `The server answered with status 504. ${UNKNOWN}`;
  await expect(call('POST /keys', { account: 'acme' })).rejects.toMatchObject({ message });
  await expect(call('GET /me', {})).rejects.toMatchObject({ message: 'The server answered with status 504.' });
});

test('a refusal that breaks off is a refusal, also of a change', async () => {
  vi.stubGlobal('fetch', async () => broken(412));
  await expect(call('POST /keys', { account: 'acme' })).rejects.toMatchObject({ status: 412, code: 'unknown' });
});

test('signing in to a gateway that does not answer may be repeated', async () => {
  vi.stubGlobal('fetch', unanswered);
  await expect(call('POST /sign-in', { email: 'ada@example.com', password: 'secret' })).rejects.toMatchObject({
    message: 'The gateway cannot be reached. Check that it is running.',
  });
});

test('a request that the page gave up says so, and nothing about the gateway', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new DOMException('gone', 'AbortError')));
  await expect(call('GET /me', {})).rejects.toMatchObject({ name: 'AbortError' });
  expect(serverStatus.isAway).toBe(false);
});
