import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { MemorySocket } from './memory-socket.ts';
import { type AnswerOutcome, byName, nextTurn, type Pieces } from './reading.ts';

/** Hands out connections that were made beforehand, and notes which are kept for another request. */
class MemoryAgent extends Agent {
  next: MemorySocket | null = null;
  readonly kept = new WeakSet<object>();

  constructor() {
    super({ keepAlive: true });
    this.on('free', (socket: object) => this.kept.add(socket));
  }

  override createConnection(): Duplex {
    const socket = this.next!;
    this.next = null;
    return socket;
  }
}

const AGENT = new MemoryAgent();

/** Reads answers with Node's own client, over connections in memory. */
export async function readNodeAnswers(connections: readonly Pieces[]): Promise<AnswerOutcome[]> {
  const readers = connections.map((pieces) => new NodeAnswer(pieces));
  await nextTurn();
  const rounds = Math.max(0, ...connections.map(({ length }) => length));
  for (let at = 0; at < rounds; at++) {
    for (const reader of readers) reader.feed(at);
    await nextTurn();
  }
  for (const reader of readers) reader.close();
  await nextTurn();
  const outcomes = readers.map((reader) => reader.finish());
  await nextTurn();
  return outcomes;
}

class NodeAnswer {
  readonly #socket = new MemorySocket();
  readonly #pieces: Pieces;
  readonly #request: ClientRequest;
  readonly #body: Buffer[] = [];
  #response: IncomingMessage | null = null;
  #refusal: string | null = null;
  #wholeAt: number | 'close' | null = null;
  #isKept = false;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
    AGENT.next = this.#socket;
    this.#request = request({ agent: AGENT, host: 'host.example', method: 'GET', path: '/' });
    this.#request.on('response', (response) => this.#take(response));
    this.#request.on('error', (error: NodeJS.ErrnoException) => {
      this.#refusal ??= error.code ?? error.message;
    });
    this.#request.end();
  }

  feed(at: number): void {
    const piece = this.#pieces[at];
    if (piece === undefined || this.#socket.destroyed || this.#wholeAt !== null) return;
    this.#socket.push(Buffer.from(piece));
    if (this.#response?.complete === true) this.#wholeAt = at;
  }

  close(): void {
    this.#isKept = AGENT.kept.has(this.#socket);
    if (!this.#socket.destroyed) this.#socket.push(null);
  }

  finish(): AnswerOutcome {
    const response = this.#response;
    if (response?.complete === true) this.#wholeAt ??= 'close';
    this.#request.destroy();
    this.#socket.destroy();
    if (response === null) return { answer: null, refusal: this.#refusal ?? 'closed' };
    const answer = {
      status: response.statusCode ?? 0,
      headers: joined(response.rawHeaders),
      body: Buffer.concat(this.#body),
      wholeAt: this.#wholeAt,
      keepsConnection: this.#isKept,
    };
    return { answer, refusal: this.#refusal };
  }

  #take(response: IncomingMessage): void {
    this.#response = response;
    response.on('data', (piece: Buffer) => this.#body.push(piece));
    response.on('error', (error: NodeJS.ErrnoException) => {
      this.#refusal ??= error.code ?? error.message;
    });
  }
}

/** Node drops or joins repeated headers by name; compared is what was sent. */
function joined(rawHeaders: readonly string[]): [string, string][] {
  const fields = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const before = fields.get(name);
    fields.set(name, before === undefined ? rawHeaders[at + 1]! : `${before}, ${rawHeaders[at + 1]}`);
  }
  return byName([...fields]);
}
