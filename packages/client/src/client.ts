import { type Jobs, jobsOf } from './jobs.ts';
import type { JsonObject } from './json.ts';
import { type Receipt, receiptFromLedger } from './receipt.ts';
import { CallStream } from './stream.ts';
import { type Answer, type CallOptions, type ClientOptions, pathOf, pathWith, Transport } from './transport.ts';
import type {
  Balance,
  ChatCompletion,
  ChatCompletionChunk,
  ChatRequest,
  Decisions,
  EmbeddingList,
  Message,
  MessagesRequest,
  Model,
  ModelRequest,
  Page,
  Quote,
  ReceiptQuery,
  ResponseObject,
  Signed,
  TextCompletion,
  TypedEvent,
  UsageReport,
} from './types.ts';
import type { ReceiptKeys } from './verify.ts';

/** A route for model calls. If you have types of a vendor's SDK, give them as type arguments. */
export type Call<Request, Data> = <D = Data>(request: Request, options?: CallOptions) => Promise<Answer<D>>;

export interface StreamedCall<Request, Data, Event> extends Call<Request, Data> {
  stream<E = Event>(request: Request, options?: CallOptions): CallStream<E>;
}

export interface Client {
  readonly chat: StreamedCall<ChatRequest, ChatCompletion, ChatCompletionChunk>;
  readonly messages: StreamedCall<MessagesRequest, Message, TypedEvent>;
  readonly responses: StreamedCall<ModelRequest, ResponseObject, TypedEvent>;
  readonly completions: StreamedCall<ModelRequest, TextCompletion, TextCompletion>;
  readonly embed: Call<ModelRequest, EmbeddingList>;
  /** Typed decisions, in the format of `/v1/decisions` if the questions are a list, otherwise in that of `/v1/systemone`. */
  readonly decide: Call<ModelRequest, Decisions>;
  /** What a call would hold, without making it. */
  quote(path: string, body: object, options?: CallOptions): Promise<Quote>;
  balance(options?: CallOptions): Promise<Balance>;
  receipt(requestId: string, options?: CallOptions): Promise<Receipt>;
  /** The receipts of the key, the newest first, page after page as they are read: `{ since: '2027-01-01' }`. */
  receipts(query?: ReceiptQuery, options?: CallOptions): AsyncIterable<Receipt>;
  /** The receipt as a signed document, for `verifyReceipt` of `@tollgate/client/verify`. */
  signedReceipt(requestId: string, options?: CallOptions & { readonly proof?: boolean | undefined }): Promise<Signed>;
  /** The refunds of a receipt, each as a signed document. */
  refunds(requestId: string, options?: CallOptions): Promise<readonly Signed[]>;
  /** The public keys that verify signed documents. */
  receiptKeys(options?: CallOptions): Promise<ReceiptKeys>;
  /** The receipts of a chain, the newest first. */
  chain(id: string, options?: CallOptions): Promise<Receipt[]>;
  models(options?: CallOptions): Promise<Model[]>;
  /** As `{ since: '2027-01-01', bucket: 'day', group_by: 'model' }`. */
  usage(query?: Readonly<Record<string, string>>, options?: CallOptions): Promise<UsageReport>;
  readonly jobs: Jobs;
}

export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options);
  const receipts = async function* (query?: ReceiptQuery, call?: CallOptions) {
    let after: string | null = null;
    do {
      const page: Page<JsonObject> = await transport.own(pathWith('/v1/receipts', { ...query, after }), call);
      yield* page.data.map(receiptFromLedger);
      after = page.next;
      // A page may be empty although others follow.
    } while (after !== null);
  };
  return {
    chat: streamedCall(transport, '/v1/chat/completions'),
    messages: streamedCall(transport, '/v1/messages'),
    responses: streamedCall(transport, '/v1/responses'),
    completions: streamedCall(transport, '/v1/completions'),
    embed: (request, call = {}) => transport.call('/v1/embeddings', request, call),
    decide: (request, call = {}) =>
      transport.call(Array.isArray(request.questions) ? '/v1/decisions' : '/v1/systemone', request, call),
    quote: (path, body, call) => transport.post('/v1/quote', { path, body }, call),
    balance: (call) => transport.own('/v1/balance', call),
    receipt: async (id, call) => receiptFromLedger(await transport.own(pathOf('receipts', id), call)),
    signedReceipt: (id, { proof, ...call } = {}) =>
      transport.own(pathWith(pathOf('receipts', id), { signed: true, proof: proof || null }), call),
    refunds: async (id, call) => (await transport.own<Page<Signed>>(pathOf('receipts', id, '/refunds'), call)).data,
    receiptKeys: (call) => transport.own('/.well-known/tollgate-receipt-keys.json', call),
    receipts,
    chain: async (chain, call) => {
      const found: Receipt[] = [];
      for await (const receipt of receipts({ chain }, call)) found.push(receipt);
      return found;
    },
    models: async (call) => (await transport.own<{ readonly data: Model[] }>('/v1/models', call)).data,
    usage: (query, call) => transport.own(pathWith('/v1/usage', query), call),
    jobs: jobsOf(transport),
  };
}

function streamedCall<Request extends object, Data, Event>(
  transport: Transport,
  path: string,
): StreamedCall<Request, Data, Event> {
  const call = <D = Data>(request: Request, options: CallOptions = {}) => transport.call<D>(path, request, options);
  const stream = <E = Event>(request: Request, options: CallOptions = {}) =>
    new CallStream<E>(() => transport.stream(path, request, options), options.signal);
  return Object.assign(call, { stream });
}
