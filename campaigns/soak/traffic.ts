import { Agent, type ClientRequest, request } from 'node:http';
import type { Random } from '../../test/random.ts';

export interface Counts {
  sent: number;
  answered: number;
  refused: number;
  hungUp: number;
  /** Answers of 500 and above, and connections that failed. */
  failed: number;
  /** How many requests failed in each way: by status and error code, or by the error of the connection. */
  readonly failures: Map<string, number>;
}

interface Asked {
  readonly path: string;
  readonly body: string;
  /** After this many bytes of the answer the client is gone. */
  readonly hangUpAfter?: number;
}

const TICK_MS = 20;
const SOCKETS_MAX = 256;
/** Of a hundred requests, so many are refused, and so many lose their client. */
const REFUSED_PERCENT = 5;
const HANG_UP_PERCENT = 4;
const OUTPUT_TOKENS_MAX = 64;

/** Requests at a steady rate, over five wires, with prompts, users and conversations that nobody has sent before. */
export class SoakTraffic {
  readonly counts: Counts = { sent: 0, answered: 0, refused: 0, hungUp: 0, failed: 0, failures: new Map() };
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
  readonly #url: string;
  readonly #keys: string[];
  readonly #random: Random;
  readonly #open = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(url: string, keys: readonly string[], random: Random) {
    this.#url = url;
    this.#keys = [...keys];
    this.#random = random;
  }

  start(perSecond: number): void {
    let due = 0;
    this.#timer = setInterval(() => {
      due += (perSecond * TICK_MS) / 1000;
      for (; due >= 1; due--) this.#sendOne();
    }, TICK_MS);
  }

  /** The oldest key makes room. */
  useKey(secret: string): void {
    this.#keys.shift();
    this.#keys.push(secret);
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all(this.#open);
    this.#agent.destroy();
  }

  #sendOne(): void {
    const sent = this.#send(this.#next()).finally(() => this.#open.delete(sent));
    this.#open.add(sent);
  }

  #next(): Asked {
    const dice = this.#random.below(100);
    if (dice < REFUSED_PERCENT) return this.#refusedCall();
    const asked = this.#random.pick(CALLS)(this.#prompt(), `user-${this.counts.sent}`, this.#random.below(2) === 0);
    return dice < REFUSED_PERCENT + HANG_UP_PERCENT ? { ...asked, hangUpAfter: this.#random.below(600) } : asked;
  }

  #refusedCall(): Asked {
    const messages = [{ role: 'user', content: this.#prompt() }];
    const body = this.#random.pick([
      { model: `model-${this.counts.sent}`, messages },
      { model: 'sim-gpt', messages, max_tokens: -1 },
      { model: 'sim-gpt', messages: 'none' },
    ]);
    return { path: '/v1/chat/completions', body: JSON.stringify(body) };
  }

  #prompt(): string {
    const words = 5 + this.#random.below(200);
    return Array.from({ length: words }, () => this.#random.below(2 ** 30).toString(36)).join(' ');
  }

  #send({ path, body, hangUpAfter }: Asked): Promise<void> {
    this.counts.sent += 1;
    return new Promise((done) => {
      const headers = {
        authorization: `Bearer ${this.#random.pick(this.#keys)}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sending = request(new URL(path, this.#url), { method: 'POST', agent: this.#agent, headers }, (answer) => {
        let bytes = 0;
        let refusal = '';
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if ((answer.statusCode ?? 0) >= 500) refusal += chunk;
          if (hangUpAfter !== undefined && bytes >= hangUpAfter) sending.destroy();
        });
        answer.on('close', () => {
          const status = answer.statusCode ?? 0;
          if (status >= 500) this.#fail(`${status} ${codeOf(refusal)}`);
          else this.#count(status, answer.complete, hangUpAfter !== undefined);
          done();
        });
      });
      this.#noteError(sending, hangUpAfter !== undefined, done);
      sending.end(body);
    });
  }

  #noteError(sending: ClientRequest, isExpected: boolean, done: () => void): void {
    sending.on('error', (error) => {
      if (!isExpected) this.#fail(error.message);
      done();
    });
  }

  #count(status: number, isWhole: boolean, mayHangUp: boolean): void {
    if (status >= 400) this.counts.refused += 1;
    else if (isWhole) this.counts.answered += 1;
    else if (mayHangUp) this.counts.hungUp += 1;
    else this.#fail('an answer was cut off');
  }

  #fail(why: string): void {
    this.counts.failed += 1;
    this.counts.failures.set(why, (this.counts.failures.get(why) ?? 0) + 1);
  }
}

/** The error code of a response, on whichever wire. */
function codeOf(body: string): string {
  return (
    /"code":"([^"]+)"/.exec(body)?.[1] ?? /"type":"(\w+_error|\w+_unavailable)"/.exec(body)?.[1] ?? 'without a code'
  );
}

type CallOf = (prompt: string, user: string, stream: boolean) => Asked;

const asked = (path: string, body: object): Asked => ({ path, body: JSON.stringify(body) });
const messagesOf = (content: string) => [{ role: 'user', content }];

/** One for each wire and for translations between them. */
const CALLS: readonly CallOf[] = [
  (prompt, user, stream) =>
    asked('/v1/chat/completions', {
      ...{ model: 'sim-gpt', messages: messagesOf(prompt), max_tokens: OUTPUT_TOKENS_MAX, user, stream },
    }),
  (prompt, user, stream) =>
    asked('/v1/chat/completions', {
      ...{ model: 'sim-claude', messages: messagesOf(prompt), max_tokens: OUTPUT_TOKENS_MAX, user, stream },
    }),
  (prompt, user, stream) =>
    asked('/v1/messages', {
      ...{ model: 'sim-claude', messages: messagesOf(prompt), max_tokens: OUTPUT_TOKENS_MAX, stream },
      metadata: { user_id: user },
    }),
  (prompt, user, stream) =>
    asked('/v1/responses', {
      ...{ model: 'sim-responses', input: prompt, max_output_tokens: OUTPUT_TOKENS_MAX, user, stream, store: false },
    }),
  (prompt, user, stream) =>
    asked('/v1/completions', { model: 'sim-gpt-mini', prompt, max_tokens: OUTPUT_TOKENS_MAX, user, stream }),
  (prompt, user) => asked('/v1/embeddings', { model: 'sim-embed', input: prompt, user }),
];
