import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../src/config/config.ts';
import { type Harness, simHost, startHarness } from './harness.ts';
import { Host } from './http1-host.ts';

const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
const USAGE = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
const CHOICE = { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' };

function answer(status: string, body: unknown): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

const OK = answer('200 OK', { id: 'x', object: 'chat.completion', model: 'm', choices: [CHOICE], usage: USAGE });
const BUSY = answer('429 Too Many Requests', { error: { message: 'slow down' } });

describe.each(TRANSPORTS)('a model with one host, over the %s transport', (transport) => {
  let harness: Harness;
  let host: Host;

  /** The host has answered once and closes that connection when the next request comes; then it does this. */
  async function startStale(then: (socket: Socket) => void): Promise<void> {
    host = new Host();
    await host.listen();
    host.answer = (socket) => socket.write(OK);
    harness = await startHarness({ hosts: () => [simHost({ url: host.origin })], config: { transport } });
    expect((await harness.post(ASK)).status).toBe(200);
    host.answer = (socket) => {
      host.answer = then;
      socket.destroy();
    };
  }

  afterEach(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
    await host.deserted();
    host.server.close();
  });

  it('answers although the kept connection was closed, and books what the host may bill twice', async () => {
    await startStale((socket) => socket.write(OK));
    const response = await harness.post(ASK);
    expect([response.status, host.requests.length]).toEqual([200, 3]);
    const receipt = await harness.newestReceipt();
    expect(receipt).toMatchObject({ ended: 'complete', attempts: 1, lossReason: 'host_may_bill_repeated_request' });
    expect(receipt.lossNanousd).toBe(receipt.heldNanousd);
  });

  it('books the repeated request even where the host then refuses to work', async () => {
    await startStale((socket) => socket.write(BUSY));
    expect((await harness.post(ASK)).status).toBe(429);
    const receipt = await harness.newestReceipt();
    expect(receipt).toMatchObject({ costNanousd: 0n, lossReason: 'host_may_bill_repeated_request' });
    expect(receipt.lossNanousd).toBe(receipt.heldNanousd);
  });

  it('answers 502 where the new connection closes too, and books both requests', async () => {
    await startStale((socket) => socket.destroy());
    const response = await harness.post(ASK);
    expect([response.status, host.requests.length]).toEqual([502, 3]);
    const receipt = await harness.newestReceipt();
    expect(receipt).toMatchObject({ ended: 'failed', costNanousd: 0n, lossReason: 'host_may_bill_uncharged_work' });
    expect(receipt.lossNanousd).toBe(2n * receipt.heldNanousd);
  });
});
