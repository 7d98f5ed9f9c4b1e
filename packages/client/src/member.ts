import { causeOf, connectionError, isRetryable, isRetryableEvent, TollgateError } from './errors.ts';
import { type Fetch, globalFetch, headersOf, randomId, signalOf, throwIfAbort } from './fetch.ts';
import { lowest } from './money.ts';
import { isStream, type Observed, observe, readWhole, type StreamFailure, setReceipt } from './observe.ts';
import { amountIn, type Receipt } from './receipt.ts';
import { findReceipt, lookupFor } from './receipt-lookup.ts';
import { type Wait, waitFor } from './retry.ts';
import type { Spending } from './spending.ts';

export interface MemberTerms {
  readonly model: string;
  /** The model of the first member. */
  readonly firstModel: string;
  readonly chainId: string;
  /** From 1. */
  readonly place: number;
  readonly isLast: boolean;
  readonly maxCost: bigint | undefined;
  readonly signal: AbortSignal | undefined;
  readonly spending: Spending;
  readonly fetch?: Fetch | undefined;
  readonly wait?: Wait | undefined;
}

const CEILING = 'x-gateway-max-cost-nanousd';
const KEY = 'idempotency-key';
/** Time between two attempts to find a lost call: it may get its hold only after its connection broke. */
const ASK_AGAIN_MS = 250;
/** How long the chain may wait to learn the cost of a lost call. */
const LOOK_MS_MAX = 5_000;
/** Nothing was sent. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused'];

/** One model of a chain. Give it to a call of the client as its options, or its `fetch` to an SDK. */
export class Member {
  declare readonly model: string;
  declare readonly place: number;
  declare readonly isLast: boolean;
  declare readonly maxCost: bigint | undefined;
  declare readonly signal: AbortSignal | undefined;
  /** Only the last member is asked again: for the others the next member is the retry. */
  readonly retries: number | undefined;
  /** Whether the last request failed in a way that advances the chain; null if it did not fail. */
  failure: { readonly retryable: boolean } | null = null;
  readonly receipts: Receipt[] = [];
  readonly #terms: MemberTerms;
  /** The idempotency keys of the bodies that were sent. */
  readonly #keys = new Map<string, string>();

  constructor(terms: MemberTerms) {
    const { model, place, isLast, maxCost, signal } = terms;
    Object.assign(this, { model, place, isLast, maxCost, signal });
    this.retries = isLast ? undefined : 0;
    this.#terms = terms;
  }

  /** For SDKs: a failure of any member but the last is a response that they do not retry. */
  readonly fetch: Fetch = async (input, init) => {
    const send = this.via(this.#terms.fetch ?? globalFetch);
    if (this.isLast) return send(input, init);
    try {
      const response = await send(input, init);
      return response.ok ? response : withoutRetry(response);
    } catch (error) {
      // Not the caller's reason for giving up, which is thrown as it is.
      if (!(error instanceof TollgateError)) throw error;
      return withoutRetry(errorResponse(503, { message: String(error), type: 'api_error', code: 'connection_error' }));
    }
  };

  /** A `fetch` over the given one, whose requests belong to this member and stay within the chain's budget. */
  readonly via = (fetch: Fetch): Fetch => {
    return async (input, init) => {
      this.failure = null;
      const headers = this.#headers(headersOf(input, init), init?.body);
      const request = { ...init, headers, signal: signalOf(input, init, this.signal) };
      try {
        return await this.#send(fetch, input, request);
      } catch (error) {
        this.failure = { retryable: false };
        throwIfAbort(error, request.signal);
        const failed =
          error instanceof TollgateError
            ? error
            : connectionError(error, await this.#lookFor(fetch, input, request, error), true);
        this.failure = { retryable: true };
        throw failed;
      }
    };
  };

  #headers(headers: Headers, body: unknown): Headers {
    const { chainId, place, firstModel, spending, maxCost } = this.#terms;
    headers.set('x-gateway-chain', `${chainId};${place}`);
    if (place > 1) headers.set('x-gateway-requested-model', firstModel);
    if (!headers.has(KEY)) headers.set(KEY, this.#keyFor(body));
    const key = headers.get(KEY)!;
    const own = amountIn(headers, CEILING);
    const ceiling = lowest(spending.ceilingFor(key), maxCost, own);
    // A ceiling of the caller's that is not an amount is sent as it is, because the gateway says what is wrong with it.
    if (ceiling !== undefined && (own !== null || !headers.has(CEILING))) headers.set(CEILING, String(ceiling));
    spending.begin(key, ceiling);
    return headers;
  }

  /** An SDK that sends the same body again is retrying. */
  #keyFor(body: unknown): string {
    if (typeof body !== 'string') return randomId('tgc_');
    const key = this.#keys.get(body) ?? randomId('tgc_');
    this.#keys.set(body, key);
    return key;
  }

  async #send(fetch: Fetch, input: Parameters<Fetch>[0], init: RequestInit & { headers: Headers }): Promise<Response> {
    const key = init.headers.get(KEY)!;
    const call = await observe(fetch, input, init, { awaitContent: true });
    const arrival = call.receipt.then((receipt) => {
      if (receipt !== null) this.#record(key, receipt);
    });
    if (!call.isOpen()) {
      await arrival;
      // The error of a proxy in front of the gateway: the call may have been made nevertheless, and count in the budget.
      const isUnknown = !call.response.ok && (await call.receipt) === null;
      if (isUnknown && this.#terms.spending.budget !== undefined) await this.#lookFor(fetch, input, init);
    }
    if (call.failure !== null) return this.#failStream(call, call.failure);
    if (!call.response.ok) this.failure = { retryable: isRetryable(call.response) };
    const response = call.isOpen() || isStream(call.response) ? call.response : await readWhole(call.response);
    return setReceipt(response, call.receipt);
  }

  #failStream({ receipt }: Observed, failure: StreamFailure): Response {
    if ('cut' in failure) throw failure.cut;
    const retryable = isRetryableEvent(failure.error);
    this.failure = { retryable };
    const response = errorResponse(502, failure.error);
    return setReceipt(retryable ? response : withoutRetry(response), receipt);
  }

  /** After a call was lost: finds out what it cost, if it was made at all. If that takes too long, its ceiling counts. */
  async #lookFor(
    fetch: Fetch,
    input: Parameters<Fetch>[0],
    init: RequestInit & { headers: Headers },
    error?: unknown,
  ): Promise<Receipt | null> {
    const { spending, chainId, place, wait = waitFor } = this.#terms;
    const key = init.headers.get(KEY)!;
    if (NOT_CONNECTED.includes(String(causeOf(error).code))) {
      spending.free(key);
      return null;
    }
    const signal = signalOf(input, init, AbortSignal.timeout(LOOK_MS_MAX));
    const lookup = { ...lookupFor(fetch, input, init), signal };
    const find = () => findReceipt(lookup, `${chainId};${place}`, key);
    const found = (await find()) ?? (await wait(ASK_AGAIN_MS, signal).then(find, () => undefined));
    init.signal?.throwIfAborted();
    if (found === null) spending.free(key);
    else if (found !== undefined) this.#record(key, found);
    return found ?? null;
  }

  #record(key: string, receipt: Receipt): void {
    this.#terms.spending.record(key, receipt);
    const at = this.receipts.findIndex(({ requestId }) => requestId === receipt.requestId);
    this.receipts.splice(at === -1 ? this.receipts.length : at, 1, receipt);
  }
}

function errorResponse(status: number, error: object): Response {
  return Response.json({ error }, { status });
}

function withoutRetry(response: Response): Response {
  const final = new Response(response.body, response);
  final.headers.set('x-should-retry', 'false');
  return final;
}
