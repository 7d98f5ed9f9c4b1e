import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce, readTerms } from './child.ts';
import { bufferedAnswer, streamedFrames } from './traffic.ts';

/** A host that always gives the same answer. */
interface UpstreamTerms {
  /** How long it takes to answer; it answers at once if this is left out. */
  readonly delayMs?: number;
  /** Each frame leaves in a turn of its own, as tokens do; otherwise all leave in one write. */
  readonly framesApart: boolean;
}

export interface UpstreamHello {
  readonly port: number;
}

const { framesApart, delayMs = 0 } = readTerms<UpstreamTerms>();
const answer = Buffer.from(bufferedAnswer());
const answerHead = { 'content-type': 'application/json', 'content-length': String(answer.length) };
const frames = streamedFrames().map((frame) => Buffer.from(frame));
const ASKS_FOR_STREAM = '"stream":true';

const server = createServer((request, response) => {
  let streamed = false;
  request.on('data', (chunk: Buffer) => {
    streamed ||= chunk.includes(ASKS_FOR_STREAM);
  });
  request.on('end', () => {
    if (delayMs === 0) answerTo(response, streamed);
    else setTimeout(answerTo, delayMs, response, streamed);
  });
});
server.keepAliveTimeout = 600_000;

function answerTo(response: ServerResponse, streamed: boolean): void {
  if (!streamed) {
    response.writeHead(200, answerHead).end(answer);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (framesApart) sendApart(response, 0);
  else {
    for (const frame of frames) response.write(frame);
    response.end();
  }
}

function sendApart(response: ServerResponse, at: number): void {
  if (at === frames.length) response.end();
  else {
    response.write(frames[at]);
    setImmediate(sendApart, response, at + 1);
  }
}

server.listen(0, '127.0.0.1', () => announce({ port: (server.address() as AddressInfo).port } satisfies UpstreamHello));
