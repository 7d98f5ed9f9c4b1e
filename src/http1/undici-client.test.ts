import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { AnswerReceiver, RequestControl } from './client.ts';
import { UndiciClient } from './undici-client.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Notes what arrives, in order; `onData` may act as a relay would. */
class Notes implements AnswerReceiver {
  readonly seen: string[] = [];
  readonly over: Promise<void>;
  onData: () => void = () => {};
  #end: () => void = () => {};

  constructor() {
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  head(status: number): void {
    this.seen.push(`head ${status}`);
  }

  data(chunks: readonly Buffer[]): void {
    this.seen.push(chunks.join('|'));
    this.onData();
  }

  end(): void {
    this.seen.push('end');
    this.#end();
  }

  failed(): void {
    this.seen.push('failed');
    this.#end();
  }
}

describe('UndiciClient', () => {
  let host: Server;
  let egress: UndiciClient;

  afterEach(async () => {
    await egress.close();
    host.close();
  });

  async function ask(notes: Notes, answer: (socket: Socket) => void): Promise<RequestControl> {
    const listening = await listen(answer);
    host = listening.server;
    egress = new UndiciClient();
    return egress.send({ origin: listening.origin, path: '/', headers: {}, body: Buffer.from('{}') }, notes);
  }

  it('hands over as one what came with one read, before the end', async () => {
    const notes = new Notes();
    await ask(notes, (socket) => socket.write(HEAD + chunk('one ') + chunk('two ') + chunk('three') + LAST_CHUNK));
    await notes.over;
    expect(notes.seen).toEqual(['head 200', 'one |two |three', 'end']);
  });

  it('does not wait for more than one read gave', async () => {
    const notes = new Notes();
    let more: () => void = () => {};
    notes.onData = () => more();
    await ask(notes, (socket) => {
      more = () => {
        more = () => {};
        socket.write(chunk('two') + LAST_CHUNK);
      };
      socket.write(HEAD + chunk('one'));
    });
    await notes.over;
    expect(notes.seen).toEqual(['head 200', 'one', 'two', 'end']);
  });

  it('hands over what came before a connection broke', async () => {
    const notes = new Notes();
    await ask(notes, (socket) => socket.end(HEAD + chunk('one') + chunk('two')));
    await notes.over;
    expect(notes.seen).toEqual(['head 200', 'one|two', 'failed']);
  });

  it('says nothing more to who cancelled, not even the end that came with the same read', async () => {
    const notes = new Notes();
    const request = await ask(notes, (socket) => socket.write(HEAD + chunk('one') + chunk('two') + LAST_CHUNK));
    await new Promise<void>((resolve) => {
      notes.onData = () => {
        request.cancel();
        setImmediate(resolve);
      };
    });
    expect(notes.seen).toEqual(['head 200', 'one|two']);
  });
});

describe('UndiciClient with a bound on its origins', () => {
  it('lets an origin go for a new one, but not what that has under way', async () => {
    let answerFirst: () => void = () => {};
    const first = await listen((socket) => {
      answerFirst = () => socket.end(`${HEAD}${chunk('late')}${LAST_CHUNK}`);
      reached.first();
    });
    const second = await listen((socket) => socket.write(`${HEAD}${chunk('soon')}${LAST_CHUNK}`));
    const reached = { first: () => {} };
    const firstReached = new Promise<void>((resolve) => {
      reached.first = resolve;
    });
    const egress = new UndiciClient({ originsMax: 1 });
    const [early, late] = [new Notes(), new Notes()];
    egress.send({ origin: first.origin, method: 'GET', path: '/', headers: {}, body: null }, early);
    await firstReached;
    egress.send({ origin: second.origin, method: 'GET', path: '/', headers: {}, body: null }, late);
    await late.over;
    expect(late.seen).toEqual(['head 200', 'soon', 'end']);
    expect(egress.openConnections).toBe(1);
    answerFirst();
    await early.over;
    expect(early.seen).toEqual(['head 200', 'late', 'end']);
    await egress.close();
    first.server.close();
    second.server.close();
  });
});

async function listen(answer: (socket: Socket) => void): Promise<{ server: Server; origin: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
