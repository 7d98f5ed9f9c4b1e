import { connectionError, errorFromResponse, noReceipt, notJson, TollgateError } from './errors.ts';
import { type Fetch, globalFetch, randomId, throwIfAbort } from './fetch.ts';
import { parseAmounts, tryParse } from './json.ts';
import { lowest } from './money.ts';
import { observed, readWhole, receiptOf, setReceipt } from './observe.ts';
import type { Receipt } from './receipt.ts';
import { type RetryOptions, retryingFetch, type Wait } from './retry.ts';

export interface ClientOptions {
  /** The gateway's address, with or without `/v1`. */
  readonly baseURL: string;
  /** Not needed by a gateway in local mode. */
  readonly apiKey?: string | undefined;
  /** The most that one call may cost, in nanodollars. */
  readonly maxCost?: bigint | undefined;
  /** How often a failed request is sent again; 2 by default. */
  readonly retries?: number | undefined;
  readonly fetch?: Fetch | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How to wait between retries. */
  readonly wait?: Wait | undefined;
}

/** A member of a chain can be given in its place. */
export interface CallOptions extends RetryOptions {
  /** The most that this call may cost, in nanodollars; the lower of this and the client's limit applies. */
  readonly maxCost?: bigint | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Random by default. Requests with the same key are one call, which is charged once. */
  readonly idempotencyKey?: string | undefined;
  readonly via?: ((fetch: Fetch) => Fetch) | undefined;
}

export interface Answer<Data> {
  readonly data: Data;
  readonly receipt: Receipt;
}

interface Request extends CallOptions {
  readonly method?: string;
  readonly body?: string;
}

/** Sends requests, and turns whatever is not a success into an error. */
export class Transport {
  readonly #root: string;
  readonly #options: ClientOptions;
  readonly #fetch: Fetch;

  constructor(options: ClientOptions) {
    this.#root = options.baseURL.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#options = options;
    this.#fetch = options.fetch ?? globalFetch;
  }

  /** A billed call. */
  async call<Data>(path: string, body: object, options: CallOptions): Promise<Answer<Data>> {
    return answerFrom<Data>(await this.#billed(path, body, options, whole));
  }

  async stream(path: string, body: object, options: CallOptions): Promise<Response> {
    return this.#billed(path, { ...body, stream: true }, options, observed);
  }

  /** The options of a call: with the client's ceiling, and with a key, so that it can be sent again. */
  keyed(options: CallOptions = {}): CallOptions {
    return keyed({ ...options, maxCost: lowest(options.maxCost, this.#options.maxCost) });
  }

  /** One of the gateway's own routes, with exact amounts. */
  async own<Data>(path: string, request: Request = {}): Promise<Data> {
    const response = await this.send(path, request, whole(this.#fetch));
    const text = await response.text();
    try {
      return parseAmounts(text) as Data;
    } catch (error) {
      throw tryParse(text) === undefined ? notJson(error) : error;
    }
  }

  post<Data>(path: string, body: object, options?: CallOptions, method = 'POST'): Promise<Data> {
    return this.own(path, { ...options, method, body: JSON.stringify(body) });
  }

  /** The stored answer of a call, with its receipt. */
  async stored<Data>(path: string, request: Request = {}): Promise<Answer<Data>> {
    return answerFrom<Data>(await this.send(path, request, whole(this.#fetch)));
  }

  /** JSON Lines, as they arrive. */
  async *lines<Line>(path: string, request: Request): AsyncGenerator<Line> {
    const { body } = await this.send(path, request);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let rest = ''; ; ) {
        const { done, value } = await reader.read();
        if (done && rest === '') return;
        // Every line has an end, so results would be missing.
        if (done) throw new Error('The last line is cut off.');
        const lines = (rest + value).split('\n');
        rest = lines.pop()!;
        yield* lines.map((line) => JSON.parse(line) as Line);
      }
    } catch (error) {
      throwIfAbort(error, request.signal);
      throw connectionError(error, null, true);
    } finally {
      // Whoever leaves the loop does not read the rest.
      await reader.cancel().catch(() => {});
    }
  }

  #billed(path: string, body: object, options: CallOptions, reading: (fetch: Fetch) => Fetch): Promise<Response> {
    const fetch = options.via?.(this.#fetch) ?? reading(this.#fetch);
    return this.send(path, { ...this.keyed(options), method: 'POST', body: JSON.stringify(body) }, fetch);
  }

  async send(path: string, request: Request, fetch: Fetch = this.#fetch): Promise<Response> {
    const { method = 'GET', body = null, signal = null } = request;
    const { retries = this.#options.retries, wait = this.#options.wait } = request;
    const init = { method, headers: this.#headers(request), signal, body };
    const response = await retryingFetch(fetch, { retries, wait })(this.#root + path, init).catch((error: unknown) => {
      throwIfAbort(error, signal);
      if (error instanceof TollgateError) throw error;
      throw connectionError(error, null, true);
    });
    if (response.ok) return response;
    throw await errorFromResponse(response, await receiptOf(response));
  }

  /** The caller's replace those that are set here, in whichever case their names are written. A record: a caller's `fetch` may spread it. */
  #headers({ body, maxCost, idempotencyKey, headers }: Request): Record<string, string> {
    const { apiKey, headers: general } = this.#options;
    const sent: Record<string, string> = {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(maxCost !== undefined && { 'x-gateway-max-cost-nanousd': String(maxCost) }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    };
    for (const [name, value] of Object.entries({ ...general, ...headers })) sent[name.toLowerCase()] = value;
    return sent;
  }
}

/** The path of one of ours, as `/v1/jobs/job_…/result`. */
export function pathOf(kind: string, id: string, rest = ''): string {
  return `/v1/${kind}/${encodeURIComponent(id)}${rest}`;
}

/** Members of the query that are null or undefined are left out, as the cursor of a first page is. */
export function pathWith(path: string, query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value != null);
  return `${path}?${new URLSearchParams(given)}`;
}

/** With a key of its own unless it has one, so that it can be sent again. */
export function keyed<Options extends CallOptions>(options: Options): Options {
  return { ...options, idempotencyKey: options.idempotencyKey ?? randomId('tgc_') };
}

/** Reads the body before the request counts as done, so that a broken one is sent again; its idempotency key makes that free. */
function whole(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await observed(fetch)(input, init);
    return setReceipt(await readWhole(response), receiptOf(response));
  };
}

async function answerFrom<Data>(response: Response): Promise<Answer<Data>> {
  const receipt = await receiptOf(response);
  if (receipt === null) throw noReceipt();
  return { data: (await response.json()) as Data, receipt };
}
