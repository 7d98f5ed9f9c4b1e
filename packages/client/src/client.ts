import { type Jobs, jobsOf } from './jobs.ts';
import type { JsonObject } from './json.ts';
import { type Receipt, receiptFromLedger } from './receipt.ts';
import { CallStream } from './stream.ts';
import { type Answer, type CallOptions, type ClientOptions, Transport } from './transport.ts';
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
  Quote,
  ResponseObject,
  TextCompletion,
  TypedEvent,
  UsageReport,
} from './types.ts';

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
  /** The receipts of a chain, newest first, up to 100. */
  chain(id: string, options?: CallOptions): Promise<Receipt[]>;
  models(options?: CallOptions): Promise<Model[]>;
  /** As `{ since: '2027-01-01', bucket: 'day', group_by: 'model' }`. */
  usage(query?: Readonly<Record<string, string>>, options?: CallOptions): Promise<UsageReport>;
  readonly jobs: Jobs;
}

export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options);
  const list = async <One>(path: string, call?: CallOptions) =>
    (await transport.own<{ readonly data: readonly One[] }>(path, call)).data;
  return {
    chat: streamedCall(transport, '/v1/chat/completions'),
    messages: streamedCall(transport, '/v1/messages'),
    responses: streamedCall(transport, '/v1/responses'),
    completions: streamedCall(transport, '/v1/completions'),
    embed: (request, call = {}) => transport.call('/v1/embeddings', request, call),
    decide: (request, call = {}) =>
      transport.call(Array.isArray(request.questions) ? '/v1/decisions' : '/v1/systemone', request, call),
    quote: (path, body, call) =>
      transport.own('/v1/quote', { ...call, method: 'POST', body: JSON.stringify({ path, body }) }),
    balance: (call) => transport.own('/v1/balance', call),
    receipt: async (id, call) => receiptFromLedger(await transport.own(`/v1/receipts/${encodeURIComponent(id)}`, call)),
    chain: async (id, call) => {
      const found = await list<JsonObject>(`/v1/receipts?chain=${encodeURIComponent(id)}`, call);
      return found.map(receiptFromLedger);
    },
    models: async (call) => [...(await list<Model>('/v1/models', call))],
    usage: (query = {}, call) => transport.own(`/v1/usage?${new URLSearchParams(query)}`, call),
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
