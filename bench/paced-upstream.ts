import { type AddressInfo, createServer, type Socket } from 'node:net';
import { announce, readTerms } from './child.ts';
import { UPSTREAM_MODEL } from './traffic.ts';

/** A host whose streams last: each sends this many events, one after every interval, and then the usage. */
export interface PacedTerms {
  readonly events: number;
  readonly intervalMs: number;
}

/** Digits of the microsecond at which an event was sent, filled up with zeros, so that all events are of one length. */
const SENT_AT_DIGITS = 16;

const { events, intervalMs } = readTerms<PacedTerms>();
const IDENTITY = {
  id: 'chatcmpl-paced',
  object: 'chat.completion.chunk',
  created: 1_794_700_800,
  model: UPSTREAM_MODEL,
};
const SHARED = JSON.stringify(IDENTITY).slice(0, -1);
const USAGE = { prompt_tokens: 460, completion_tokens: events, total_tokens: 460 + events };
const END = asChunk(
  `data: ${SHARED},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: ${SHARED},"choices":[],"usage":${JSON.stringify(USAGE)}}\n\ndata: [DONE]\n\n`,
);
const RESPONSE_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const [BEFORE_TIME, AFTER_TIME] = asChunk(
  `data: ${SHARED},"choices":[{"index":0,"delta":{"content":"@${'0'.repeat(SENT_AT_DIGITS)}@"},"finish_reason":null}]}\n\n`,
).split('0'.repeat(SENT_AT_DIGITS)) as [string, string];

function asChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** On bare sockets: a general server takes as long for an event as the gateway, and the delays would be its own. */
function serve(socket: Socket): void {
  let unread = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes) => {
    unread += bytes.toString('latin1');
    const length = requestLength(unread);
    if (unread.length < length) return;
    unread = unread.slice(length);
    socket.write(RESPONSE_HEAD, 'latin1');
    send(socket, performance.now(), 0);
  });
}

/** Of head and body; infinite while the head is not complete. */
function requestLength(bytes: string): number {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return Number.POSITIVE_INFINITY;
  const length = /\r\ncontent-length: ?(\d+)/i.exec(bytes.slice(0, end));
  if (length === null) throw new Error('The host of this benchmark reads only requests with a Content-Length.');
  return end + 4 + Number(length[1]);
}

/**
 * Each event says when it was sent, by the clock that all processes of a machine share. It is due by the stream's beginning and
 * not by the event before it: otherwise one late moment of this process would make all streams send at the same time for good.
 */
function send(socket: Socket, startedMs: number, sent: number): void {
  if (socket.destroyed) return;
  if (sent === events) {
    socket.write(`${END}0\r\n\r\n`, 'latin1');
    return;
  }
  const sentAt = String(process.hrtime.bigint() / 1000n).padStart(SENT_AT_DIGITS, '0');
  socket.write(BEFORE_TIME + sentAt + AFTER_TIME, 'latin1');
  const nextMs = startedMs + (sent + 1) * intervalMs;
  setTimeout(send, Math.max(0, nextMs - performance.now()), socket, startedMs, sent + 1);
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', 4096, () => announce({ port: (server.address() as AddressInfo).port }));
