import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { EXIT } from './exit-codes.ts';
import { GatewayClient, GatewayLost } from './gateway-client.ts';

let server: Server;
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function serving(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As a gateway does that is killed while it answers. */
const breakOff: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
  response.write('{"object":', () => response.destroy());
};

test.each([
  ['a job', (client: GatewayClient) => client.text('GET', '/jobs/job_1')],
  ['a stored answer', (client: GatewayClient) => client.stored('/jobs/job_1/result')],
])('%s whose answer breaks off is lost, so that it is asked for again, and not a bug', async (_, ask) => {
  const url = await serving(breakOff);
  const lost = await ask(new GatewayClient({ url, key: null, isNamed: false })).catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(GatewayLost);
  expect(lost).toMatchObject({ exitCode: EXIT.unreachable, hint: 'tollgate doctor' });
});

test('a gateway that was named and does not answer is not looked for on this machine', async () => {
  const url = await serving((_request, response) => response.destroy());
  const client = new GatewayClient({ url, key: null, isNamed: true });
  await expect(client.text('GET', '/jobs')).rejects.toMatchObject({ hint: 'check the address after --url' });
});
