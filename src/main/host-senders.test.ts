import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HostSenders } from './host-senders.ts';

test.each(['own', 'node'] as const)(
  'transport %s makes no more calls to one host at once than is set',
  async (transport) => {
    let underWay = 0;
    let most = 0;
    const server = createServer(async (_request, response) => {
      most = Math.max(most, ++underWay);
      for (let turns = 0; turns < 20; turns++) await turn();
      underWay -= 1;
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const senders = new HostSenders(transport, 2);
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const call = (): Promise<void> =>
      new Promise((end, failed) => {
        const request = { origin, path: '/', headers: {}, body: Buffer.from('{}') };
        const nothing = () => undefined;
        senders.senderFor({}).send(request, { head: nothing, data: nothing, end, failed });
      });
    await Promise.all(Array.from({ length: 8 }, call));
    await senders.close();
    server.close();
    expect(most).toBe(2);
  },
);
