import { Agent, type ClientRequest, request } from 'node:http';
import { mintSecret } from '../../src/accounts/keys.ts';
import type { Random } from '../../test/random.ts';

interface Counts {
  sent: number;
  answered: number;
  refused: number;
  hungUp: number;
  /** Answers of 500 and above, and connections that failed. */
  failed: number;
  /** How many requests failed in each way: by status and error code, or by the error of the connection. */
  readonly failures: Map<string, number>;
  /** Responses by their status. */
  readonly statuses: Map<number, number>;
}

interface Asked {
  readonly path: string;
  readonly body: string;
  readonly method?: 'GET' | 'POST';
  /** Instead of one of the keys. */
  readonly key?: string;
  readonly idempotencyKey?: string;
  /** The client hangs up after this many bytes of the answer. */
  readonly hangUpAfter?: number;
}

const TICK_MS = 20;
const SOCKETS_MAX = 256;
/** How many percent of the requests are refused, and how many lose their client. */
const REFUSED_PERCENT = 5;
const HANG_UP_PERCENT = 4;
/** How many percent of the buffered calls have an idempotency key, and how many requests only read something. */
const IDEMPOTENT_PERCENT = 10;
const READ_PERCENT = 2;
const OUTPUT_TOKENS_MAX = 64;

/**
 * Requests at a steady rate, over five wires, streamed and buffered, with prompts, users, sessions and idempotency keys that
 * nobody has sent before, and with keys and models that are new.
 */
export class SoakTraffic {
  readonly counts: Counts = {
    ...{ sent: 0, answered: 0, refused: 0, hungUp: 0, failed: 0 },
    failures: new Map(),
    statuses: new Map(),
  };
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
  readonly #url: string;
  readonly #keys: string[];
  #models: readonly string[] = ['sim-gpt'];
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

  /** From now on, calls on the chat wire ask for one of these. */
  useModels(models: readonly string[]): void {
    this.#models = models;
  }

  /** Resolves when every request has ended. The connections are closed, and opened again by the next start. */
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
    if (dice < REFUSED_PERCENT + READ_PERCENT) return { path: this.#random.pick(READ_PATHS), body: '', method: 'GET' };
    const number = this.counts.sent;
    const stream = this.#random.below(2) === 0;
    const terms = { prompt: this.#prompt(), number, stream, model: this.#random.pick(this.#models) };
    const asked = this.#random.pick(CALLS)(terms);
    const hangsUp = dice < REFUSED_PERCENT + READ_PERCENT + HANG_UP_PERCENT;
    const isIdempotent = !stream && this.#random.below(100) < IDEMPOTENT_PERCENT;
    return {
      ...asked,
      ...(hangsUp && { hangUpAfter: this.#random.below(600) }),
      ...(isIdempotent && { idempotencyKey: `soak-${number}` }),
    };
  }

  #refusedCall(): Asked {
    const messages = [{ role: 'user', content: this.#prompt() }];
    const body = this.#random.pick([
      { model: `model-${this.counts.sent}`, messages },
      { model: 'sim-gpt', messages, max_tokens: -1 },
      { model: 'sim-gpt', messages: 'none' },
    ]);
    // A key that does not exist but has the right form, so that the gateway has to look it up.
    const isUnknownKey = this.#random.below(4) === 0;
    const key = isUnknownKey ? { key: mintSecret().secret.reveal() } : {};
    return { path: '/v1/chat/completions', body: JSON.stringify(body), ...key };
  }

  #prompt(): string {
    const words = 5 + this.#random.below(200);
    return Array.from({ length: words }, () => this.#random.below(2 ** 30).toString(36)).join(' ');
  }

  #send({ path, body, method = 'POST', key, idempotencyKey, hangUpAfter }: Asked): Promise<void> {
    this.counts.sent += 1;
    return new Promise((done) => {
      const headers = {
        authorization: `Bearer ${key ?? this.#random.pick(this.#keys)}`,
        ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      };
      const sending = request(new URL(path, this.#url), { method, agent: this.#agent, headers }, (answer) => {
        let bytes = 0;
        let refusal = '';
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if ((answer.statusCode ?? 0) >= 500) refusal += chunk;
          if (hangUpAfter !== undefined && bytes >= hangUpAfter) sending.destroy();
        });
        answer.on('close', () => {
          const status = answer.statusCode ?? 0;
          this.counts.statuses.set(status, (this.counts.statuses.get(status) ?? 0) + 1);
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

interface CallTerms {
  readonly prompt: string;
  /** Different for every call. */
  readonly number: number;
  readonly stream: boolean;
  readonly model: string;
}

type CallOf = (terms: CallTerms) => Asked;

const asked = (path: string, body: object): Asked => ({ path, body: JSON.stringify(body) });
const messagesOf = (content: string) => [{ role: 'user', content }];
const max_tokens = OUTPUT_TOKENS_MAX;

/** What calls are labelled by. */
const labelsOf = (number: number) => ({
  user: `user-${number}`,
  metadata: { session: `session-${number}` },
  safety_identifier: `person-${number}`,
  prompt_cache_key: `conversation-${number}`,
});

/** One for each wire and for translations between them. */
const CALLS: readonly CallOf[] = [
  ({ prompt, number, stream, model }) =>
    asked('/v1/chat/completions', {
      ...{ model, messages: messagesOf(prompt), max_tokens, stream, ...labelsOf(number) },
    }),
  ({ prompt, number, stream }) =>
    asked('/v1/chat/completions', {
      ...{ model: 'sim-claude', messages: messagesOf(prompt), max_tokens, user: `user-${number}`, stream },
    }),
  ({ prompt, number, stream }) =>
    asked('/v1/messages', {
      ...{ model: 'sim-claude', messages: messagesOf(prompt), max_tokens, stream },
      metadata: { user_id: `user-${number}` },
    }),
  ({ prompt, number, stream }) =>
    asked('/v1/responses', {
      ...{ model: 'sim-responses', input: prompt, max_output_tokens: max_tokens, stream, store: false },
      ...labelsOf(number),
    }),
  ({ prompt, number, stream }) =>
    asked('/v1/completions', { model: 'sim-gpt-mini', prompt, max_tokens, user: `user-${number}`, stream }),
  ({ prompt, number }) => asked('/v1/embeddings', { model: 'sim-embed', input: prompt, user: `user-${number}` }),
  ({ prompt }) => asked('/v1/messages/count_tokens', { model: 'sim-claude', messages: messagesOf(prompt) }),
];

const READ_PATHS: readonly string[] = ['/v1/models', '/v1/balance', '/v1/receipts?limit=5'];
