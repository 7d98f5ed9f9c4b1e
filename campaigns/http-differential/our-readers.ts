import { checkHead } from '../../src/http/request-head.ts';
import { Http1Response } from '../../src/http1/client/response.ts';
import { ConnectionLimit } from '../../src/http1/connection-limit.ts';
import { ClientConnection } from '../../src/http1/server/client-connection.ts';
import type { InboundRequest, OutboundResponse } from '../../src/http1/server.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { LIMITS } from '../../src/limits.ts';
import { MemorySocket } from './memory-socket.ts';
import {
  type AnswerOutcome,
  byName,
  type ConnectionReading,
  nextTurn,
  type Pieces,
  type ReadRequest,
} from './reading.ts';

const NEVER_MS = 1_000_000_000;
const TIMEOUTS = { requestHeadMs: NEVER_MS, requestMs: NEVER_MS, stallMs: NEVER_MS };

/** Reads requests with the code that serves callers: the connection, and the checks of the head. */
export async function readOurRequests(connections: readonly Pieces[]): Promise<ConnectionReading[]> {
  const readers = connections.map((pieces) => new OurConnection(pieces));
  await nextTurn();
  for (const reader of readers) reader.feed();
  await nextTurn();
  return readers.map((reader) => reader.finish());
}

class OurConnection {
  readonly #socket = new MemorySocket();
  readonly #pieces: Pieces;
  readonly #requests: { request: InboundRequest; body: Buffer[]; wholeAt: number | null }[] = [];
  #refusal: string | null = null;
  #at = 0;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
    const connections = new ConnectionLimit(1);
    new ClientConnection(this.#socket.asSocket(), connections.take(() => {})!, {
      timeouts: TIMEOUTS,
      connections,
      checkMs: NEVER_MS,
      clock: systemClock,
      answer: (request, response) => this.#take(request, response),
      answerBroken: (why) => {
        this.#refusal ??= `malformed head or body: ${why}`;
        return '';
      },
      gone: () => {},
    });
  }

  feed(): void {
    for (const piece of this.#pieces) {
      if (!this.#socket.destroyed) this.#socket.push(Buffer.from(piece));
      this.#at++;
    }
  }

  finish(): ConnectionReading {
    if (this.#socket.destroyed) this.#refusal ??= 'closed';
    this.#socket.destroy();
    const requests = this.#requests.map(
      ({ request, body, wholeAt }): ReadRequest => ({
        method: request.method,
        target: request.url,
        version: `${request.httpVersionMajor}.${request.httpVersionMinor}`,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(body),
        wholeAt,
      }),
    );
    return { requests, refusal: this.#refusal };
  }

  #take(request: InboundRequest, response: OutboundResponse): void {
    if (this.#refusal !== null) return;
    const error = checkHead(request);
    if (error !== null) {
      this.#refusal = error.message;
      return;
    }
    const read = { request, body: [] as Buffer[], wholeAt: null as number | null };
    this.#requests.push(read);
    request.read({
      data: (piece) => read.body.push(piece),
      end: () => {
        read.wholeAt = this.#at;
        response.head(200, '', 0);
        response.end();
      },
      failed: () => {
        this.#refusal ??= 'malformed body';
      },
    });
  }
}

/** Reads answers with the code that reads hosts. */
export function readOurAnswers(connections: readonly Pieces[]): Promise<AnswerOutcome[]> {
  return Promise.resolve(connections.map(readOurAnswer));
}

function readOurAnswer(pieces: Pieces): AnswerOutcome {
  const heads: { status: number; headers: [string, string][] }[] = [];
  const answer = new Http1Response(LIMITS.hostHeaderBytesMax, (status, headers) => {
    heads.push({ status, headers: byName(Object.entries(headers) as [string, string][]) });
  });
  const body: Buffer[] = [];
  let at = 0;
  while (at < pieces.length && !answer.over && answer.broken === null) {
    const piece = answer.read(Buffer.from(pieces[at]!));
    if (piece !== null) body.push(piece);
    at++;
  }
  const [head] = heads;
  if (head === undefined) return { answer: null, refusal: answer.broken };
  const wholeAt = answer.over ? at - 1 : answer.broken === null && answer.endsHere() ? 'close' : null;
  const keepsConnection = answer.over && answer.keepsConnection && !answer.excess;
  return { answer: { ...head, body: Buffer.concat(body), wholeAt, keepsConnection }, refusal: answer.broken };
}
