import type { Clock } from '../kit/clock.ts';
import type { Gates } from './gates.ts';
import type { Reply, ReplyHeaders } from './reply.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { SimScript } from './script.ts';

/** Faults that change the bytes of a reply or their timing; the other faults have already changed the reply. */
const DELIVERY_FAULTS: readonly (keyof SimScript)[] = [
  'delayMs',
  'gateHead',
  'chunkDelayMs',
  'gate',
  'hang',
  'cutAtByte',
  'endAtByte',
  'splitBytes',
  'dribble',
];

/** A longer body is written in chunks, so that a client that does not read delays it. */
const ONE_WRITE_UNITS_MAX = 64 * 1024;

/** Sends the reply at once, or step by step as the script says. */
export function deliver(
  reply: Reply,
  script: SimScript,
  writer: ResponseWriter,
  gates: Gates,
  clock: Clock,
): Promise<void> | undefined {
  const body = DELIVERY_FAULTS.some((fault) => script[fault] !== undefined) ? null : bodyForOneWrite(reply);
  if (body === null) return new Delivery(script, writer, gates, clock).run(reply);
  const bytes = Buffer.byteLength(body);
  writer.sendWhole(reply.status, reply.streamed ? reply.headers : withLength(reply.headers, bytes), body, bytes);
  return undefined;
}

function bodyForOneWrite({ chunks }: Reply): string | Buffer | null {
  if (!Array.isArray(chunks)) return null;
  const body: string | Buffer = chunks.length === 1 ? chunks[0] : chunks.join('');
  return body.length <= ONE_WRITE_UNITS_MAX ? body : null;
}

function withLength(headers: ReplyHeaders, bytes: number): ReplyHeaders {
  return { 'content-length': String(bytes), ...headers };
}

class Delivery {
  readonly #script: SimScript;
  readonly #writer: ResponseWriter;
  readonly #gates: Gates;
  readonly #clock: Clock;
  /** Bytes that do not fill a piece yet. */
  #pending: Buffer = Buffer.alloc(0);

  constructor(script: SimScript, writer: ResponseWriter, gates: Gates, clock: Clock) {
    this.#script = script;
    this.#writer = writer;
    this.#gates = gates;
    this.#clock = clock;
  }

  async run(reply: Reply): Promise<void> {
    const { hang } = this.#script;
    if (!(await this.#waitBeforeHead()) || hang === 'before-head') return;
    this.#writer.writeHead(reply.status, this.#headersOf(reply));
    this.#writer.flushHead();
    if (hang === 'after-head') return;
    if (!(await this.#sendChunks(reply.chunks))) return;
    if (await this.#sendPending()) this.#writer.end();
  }

  /** If the script ends the body early, no length is announced, or the client would wait for the rest. */
  #headersOf(reply: Reply): ReplyHeaders {
    if (reply.streamed || !Array.isArray(reply.chunks) || this.#script.endAtByte !== undefined) return reply.headers;
    return withLength(reply.headers, bytesOf(reply.chunks));
  }

  async #sendChunks(chunks: Iterable<string | Buffer>): Promise<boolean> {
    let sent = 0;
    for (const chunk of chunks) {
      if (this.#script.hang === sent) return this.#hangAfterPending();
      if (!(await this.#waitBeforeChunk())) return false;
      if (!(await this.#send(typeof chunk === 'string' ? Buffer.from(chunk) : chunk))) return false;
      sent++;
    }
    return this.#script.hang === sent ? this.#hangAfterPending() : true;
  }

  async #hangAfterPending(): Promise<false> {
    await this.#sendPending();
    return false;
  }

  async #waitBeforeHead(): Promise<boolean> {
    const { delayMs, gateHead } = this.#script;
    if (delayMs !== undefined && !(await this.#pause(delayMs))) return false;
    return gateHead === undefined || this.#passGate(gateHead);
  }

  async #waitBeforeChunk(): Promise<boolean> {
    const { chunkDelayMs, gate } = this.#script;
    if (chunkDelayMs === undefined && gate === undefined) return true;
    if (!(await this.#sendPending())) return false;
    if (chunkDelayMs !== undefined && !(await this.#pause(chunkDelayMs))) return false;
    return gate === undefined || this.#passGate(gate);
  }

  #passGate(name: string): Promise<boolean> {
    return this.#writer.waitUntil((done) => this.#gates.wait(name, done));
  }

  #pause(ms: number): Promise<boolean> {
    return this.#writer.waitUntil((done) => {
      if (ms > 0) {
        const timer = this.#clock.after(ms, done);
        return () => timer.cancel();
      }
      const turn = setImmediate(done);
      return () => clearImmediate(turn);
    });
  }

  #send(bytes: Buffer): Promise<boolean> {
    const pieceBytes = this.#script.splitBytes ?? this.#script.dribble?.bytes;
    return pieceBytes === undefined ? this.#write(bytes) : this.#sendPieces(bytes, pieceBytes);
  }

  async #sendPieces(bytes: Buffer, pieceBytes: number): Promise<boolean> {
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    let at = 0;
    for (; all.length - at >= pieceBytes; at += pieceBytes) {
      if (!(await this.#write(all.subarray(at, at + pieceBytes)))) return false;
      if (!(await this.#pause(this.#script.dribble?.everyMs ?? 0))) return false;
    }
    this.#pending = all.subarray(at);
    return true;
  }

  async #sendPending(): Promise<boolean> {
    const pending = this.#pending;
    this.#pending = Buffer.alloc(0);
    return pending.length === 0 || this.#write(pending);
  }

  /** Writes up to the byte at which the script cuts or ends the body; false if nothing may follow. */
  async #write(bytes: Buffer): Promise<boolean> {
    const { cutAtByte, endAtByte } = this.#script;
    const room = (cutAtByte ?? endAtByte ?? Number.POSITIVE_INFINITY) - this.#writer.bytesWritten;
    if (bytes.length < room) return this.#writer.write(bytes);
    if (room > 0) await this.#writer.write(bytes.subarray(0, room));
    if (cutAtByte !== undefined) await this.#writer.cut();
    else this.#writer.end();
    return false;
  }
}

function bytesOf(chunks: readonly (string | Buffer)[]): number {
  return chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
}
