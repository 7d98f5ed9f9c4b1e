import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../kit/clock.ts';
import { findLocalHosts } from './find-local.ts';
import { HOST_ROWS } from './rows.ts';

vi.mock('./list-models.ts', () => {
  throw new Error('The HTTP client was loaded.');
});

test('loads no HTTP client if nothing listens on the usual ports', async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  const row = { ...HOST_ROWS.find(({ name }) => name === 'ollama')!, baseUrl: `http://127.0.0.1:${port}/v1` };
  const guessed = [{ row, key: null, keySource: null, local: true, models: [] }];
  expect(await findLocalHosts([], guessed, systemClock)).toEqual({ hosts: [], silent: [] });
});
