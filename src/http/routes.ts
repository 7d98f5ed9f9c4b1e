import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../accounts/authenticate.ts';
import type { KeyPermission } from '../accounts/permissions.ts';
import type { Call } from '../gateway/call.ts';
import type { ClientSink } from '../gateway/client-sink.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { BodyLines, LineLimits } from './body-lines.ts';
import { PREFIXES } from './path-aliases.ts';

/** The body of a request that its route reads itself, as it arrives. */
export interface IncomingBody {
  lines(limits: LineLimits): BodyLines;
  /** The whole body, which must be JSON. Rejects with a GatewayError. */
  whole(bytesMax: number): Promise<Buffer>;
}

/** A request to a route that needs a key and is not a call. */
export interface PlainRequest {
  readonly id: bigint;
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly startedMs: number;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  /** The other end of the connection, which may be a proxy. */
  readonly peerAddress: string | null;
  readonly param: string;
  /** What follows the question mark; empty without one. */
  readonly query: string;
  /** Empty if none was sent. */
  readonly body: Buffer;
  /** Null unless the route reads its body itself. */
  readonly incoming: IncomingBody | null;
  /** Aborted when the client leaves before it is answered. */
  readonly gone: AbortSignal;
}

export interface PlainResponse {
  readonly status: number;
  /** JSON text, other bytes with their own type in `lines`, pieces to be sent as they come, or null for no body. */
  readonly body: string | Buffer | AsyncIterable<string> | null;
  /** Further header lines; with a `content-type` if the body is not text of JSON. */
  readonly lines?: string;
  /** The lines have the ids of another request, because this is the answer to that one. */
  readonly hasIds?: true;
  /** For a whole body: called once, when the client has read it or has left. */
  whenSent?(): void;
}

type PlainHandler = (request: PlainRequest) => PlainResponse | Promise<PlainResponse>;

/** One route: a method, a path, and whether it needs a key. Public routes need none in any mode. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Without prefix. What stands in the place of `*` is the parameter; at the end of a path it may contain slashes. */
  readonly path: string;
  /** What the caller's key must have been granted; absent if any valid key will do. */
  readonly permission?: KeyPermission;
} & (CallRoute | PlainRoute | PublicRoute);

/** A route that needs no host. */
export interface PlainRoute {
  readonly access: 'key';
  readonly answer: PlainHandler;
  /** Largest body; absent: `LIMITS.plainBodyBytesMax`. */
  readonly bodyBytesMax?: number;
  /** The route reads the body itself, as it arrives. */
  readonly readsBody?: true;
  /** It causes as much work as a call, so it is refused too while the process is overloaded. */
  readonly isWork?: true;
  /** The wire whose shape errors have, for a path that several wires share. Absent or null: the common shape. */
  wireOf?(headers: IncomingHttpHeaders): Call['wire'] | null;
}

/** A route that answers everybody alike, so it is not given the request. */
export interface PublicRoute extends Omit<PlainRoute, 'access' | 'answer'> {
  readonly access: 'public';
  readonly answer: () => PlainResponse | Promise<PlainResponse>;
}

/** A route for calls of one wire. Errors have that wire's shape. */
export interface CallRoute {
  readonly access: 'key';
  readonly wire: Call['wire'];
  /** Runs the call; for most routes this is the exchange. */
  readonly run: (gateway: Gateway, call: Call, sink: ClientSink) => Promise<void>;
}

const DEFERRED =
  'Batches are deferred jobs here: send the batch file to POST /v1/jobs/groups, or use "tollgate jobs submit FILE.jsonl".';

/**
 * Routes of other services, refused by name with the nearest equivalent. A path that ends in a slash matches only paths
 * below it.
 */
const REFUSED_ROUTES: readonly { readonly path: string; readonly instead: string }[] = [
  { path: '/images', instead: 'Images are not generated here.' },
  { path: '/rerank', instead: 'Reranking is not offered; embeddings come closest.' },
  { path: '/moderations', instead: 'Moderation is not run here; call your own service before this gateway.' },
  { path: '/audio', instead: 'Audio is not offered.' },
  {
    path: '/files',
    instead:
      'Files are not stored; send their text in the request. A batch file goes to POST /v1/jobs/groups, or use "tollgate jobs submit FILE.jsonl".',
  },
  { path: '/uploads', instead: 'Files are not stored; send their text in the request.' },
  { path: '/batches', instead: DEFERRED },
  { path: '/messages/batches', instead: DEFERRED },
  { path: '/fine_tuning', instead: 'Models are not fine-tuned here.' },
  {
    path: '/assistants',
    instead: 'Nothing is stored between calls; send the whole conversation to /v1/chat/completions.',
  },
  {
    path: '/threads',
    instead: 'Nothing is stored between calls; send the whole conversation to /v1/chat/completions.',
  },
  { path: '/vector_stores', instead: 'Nothing is stored between calls.' },
  { path: '/conversations', instead: 'Nothing is stored between calls; send the whole conversation.' },
  { path: '/containers', instead: 'No code runs here; run it yourself and send the result.' },
  { path: '/videos', instead: 'Videos are not generated here.' },
  { path: '/realtime', instead: 'There is no realtime wire; stream from /v1/chat/completions.' },
  {
    path: '/responses/',
    instead: 'Nothing is stored between calls: there is no response to read or cancel; send all input again.',
  },
  { path: '/generation', instead: 'GET /v1/receipts/{request_id} gives the receipt of a call.' },
  { path: '/credits', instead: 'GET /v1/balance gives the balance.' },
  { path: '/key', instead: 'GET /v1/balance gives the balance, and what the key has left of its cap.' },
  { path: '/auth/key', instead: 'GET /v1/balance gives the balance, and what the key has left of its cap.' },
];

/** The calls of a vendor's wire that is not offered; each names its model in the path. */
const GENERATE_CONTENT = /:(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents|countTokens)$/;
const NO_GENERATE_CONTENT = {
  instead: 'There is no generateContent wire; use a client of the chat wire, which sends to /v1/chat/completions.',
};

export function refusedRoute(path: string): { readonly instead: string } | null {
  if (path.includes('/models/') && GENERATE_CONTENT.test(path)) return NO_GENERATE_CONTENT;
  const prefix = PREFIXES.findLast((each) => path.startsWith(`${each}/`)) ?? '';
  const bare = path.slice(prefix.length);
  return REFUSED_ROUTES.find(({ path: row }) => bare === row || bare.startsWith(row.replace(/\/?$/, '/'))) ?? null;
}
