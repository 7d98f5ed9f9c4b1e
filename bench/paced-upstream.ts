import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce, readTerms } from './child.ts';
import { UPSTREAM_MODEL } from './traffic.ts';

/** A host whose streams last: each sends this many events, one after every interval, and then the usage. */
export interface PacedTerms {
  readonly events: number;
  readonly intervalMs: number;
}

const { events, intervalMs } = readTerms<PacedTerms>();
const IDENTITY = {
  id: 'chatcmpl-paced',
  object: 'chat.completion.chunk',
  created: 1_794_700_800,
  model: UPSTREAM_MODEL,
};
const HEAD = JSON.stringify(IDENTITY).slice(0, -1);
const USAGE = { prompt_tokens: 460, completion_tokens: events, total_tokens: 460 + events };
const END = `data: ${HEAD},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: ${HEAD},"choices":[],"usage":${JSON.stringify(USAGE)}}\n\ndata: [DONE]\n\n`;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    send(response, performance.now(), 0);
  });
});
server.keepAliveTimeout = 600_000;

/**
 * Each event says when it was sent, by the clock that all processes of a machine share. It is due by the stream's beginning and
 * not by the event before it: otherwise one late moment of this process would make all streams send at the same time for good.
 */
function send(response: ServerResponse, startedMs: number, sent: number): void {
  if (sent === events) {
    response.end(END);
    return;
  }
  const content = `@${process.hrtime.bigint() / 1000n}@`;
  response.write(`data: ${HEAD},"choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`);
  const nextMs = startedMs + (sent + 1) * intervalMs;
  setTimeout(send, Math.max(0, nextMs - performance.now()), response, startedMs, sent + 1);
}

server.listen(0, '127.0.0.1', 4096, () => announce({ port: (server.address() as AddressInfo).port }));
