import type { Caller, CallerRequest } from '../accounts/authenticate.ts';
import { missingPermission } from '../accounts/permissions.ts';
import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { payerOf } from '../gateway/guards/account-share.ts';
import type { BodyMemory } from '../gateway/guards/body-memory.ts';
import { ResponseRoom } from '../gateway/guards/response-room.ts';
import { FREE_LINES } from '../gateway/receipt-headers.ts';
import { asGatewayError, errorLines, identityLines } from '../gateway/refuse.ts';
import { headerLine, headerLines } from '../http1/headers.ts';
import type {
  ClientTimeouts,
  CreateHttpServer,
  HttpServer,
  HttpServerTerms,
  InboundRequest,
  OutboundResponse,
  RequestFault,
} from '../http1/server.ts';
import { formatId } from '../kit/ids.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { answerBrokenCall } from './broken-request.ts';
import { logRequest } from './call-log.ts';
import { checkKeyAgain } from './check-key-again.ts';
import { checkOrigin, type OriginTerms } from './check-origin.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { discardRest, isStillSending } from './discard-body.ts';
import { wireAt, wireOf } from './error-shape.ts';
import { allowedAt, errorOfUnknownRoute } from './errors.ts';
import { incomingBody } from './incoming-body.ts';
import { isGet, type OperationsResponses, sendOperations } from './operations.ts';
import { type BodyRoom, readRequestBody } from './request-body.ts';
import { checkBodyHead, checkHead } from './request-head.ts';
import { ResponseSink, type SinkTerms } from './response-sink.ts';
import { type Found, pathOf, queryOf, Router, unescapedParam } from './router.ts';
import type { CallRoute, PlainRequest, PlainResponse, PlainRoute, PublicRoute, Route } from './routes.ts';
import { callAfter, isWhole, sendPieces } from './send-pieces.ts';

export interface ServerTerms {
  readonly createHttpServer: CreateHttpServer;
  readonly gateway: Gateway;
  readonly routes: readonly Route[];
  /** Served without a key. */
  readonly operations: OperationsResponses;
  authenticate(request: CallerRequest): Caller | GatewayError | Promise<Caller | GatewayError>;
  /** Refuses a caller over its rate limit, and calls while the process is overloaded; null admits. */
  turnAway(caller: Caller, isCall: boolean): GatewayError | null;
  readonly guard: OriginTerms;
  /** The management API and its pages; null if they are not served here. */
  readonly manage: ManagementApi | null;
  readonly timeouts: ClientTimeouts;
  readonly connectionLimit: HttpServerTerms['connections'];
  readonly bodyMemory: BodyMemory;
  readonly log: Log;
  /** True once the process is stopping: connections are closed after their response. */
  draining(): boolean;
}

/** The management API, which checks by itself who asks and from which page. */
export interface ManagementApi {
  /** Whether a request target is one of its paths. */
  serves(url: string): boolean;
  answer(request: InboundRequest, response: OutboundResponse, requestId: string): Promise<void>;
}

/** The callers' port. */
export function buildServer(terms: ServerTerms): HttpServer {
  const handler = new RequestHandler(terms);
  const answer = (request: InboundRequest, response: OutboundResponse): void => handler.receive(request, response);
  const answerBroken = (why: RequestFault, requestId: string | null): string =>
    answerBrokenCall(why, requestId ?? formatId(REQUEST_PREFIX, terms.gateway.ids.next()), terms.log);
  return terms.createHttpServer({ timeouts: terms.timeouts, connections: terms.connectionLimit, answer, answerBroken });
}

/** A request and what is known about it so far. */
interface PendingRequest {
  readonly request: InboundRequest;
  readonly response: OutboundResponse;
  readonly id: bigint;
  readonly requestId: string;
  readonly startedMs: number;
  found: Found | null;
  caller: Caller | null;
  /** Bytes of its body that are in memory. */
  bodyBytes: number;
}

/** Takes each request through id, checks, routing, authentication and body, in this order. */
class RequestHandler {
  readonly #terms: ServerTerms;
  readonly #router: Router;
  readonly #sinkTerms: SinkTerms;

  constructor(terms: ServerTerms) {
    const { clock, limits } = terms.gateway;
    this.#terms = terms;
    this.#router = new Router(terms.routes);
    this.#sinkTerms = { clock, stallMs: limits.stallMs, draining: terms.draining };
  }

  receive(request: InboundRequest, response: OutboundResponse): void {
    const { gateway, guard, manage, draining } = this.#terms;
    const id = gateway.ids.next();
    const requestId = formatId(REQUEST_PREFIX, id);
    response.requestId = requestId;
    const startedMs = gateway.clock.monotonicMs();
    const pending: PendingRequest = {
      request,
      response,
      id,
      requestId,
      startedMs,
      found: null,
      caller: null,
      bodyBytes: 0,
    };
    const unclear = checkHead(request);
    if (draining() || unclear !== null) response.closes = true;
    const { headers } = request;
    const isManagement = manage?.serves(request.url) === true;
    const refused =
      unclear ?? checkOrigin(request.method, headers, isManagement ? { ...guard, ...NO_EXCEPTIONS } : guard);
    if (refused !== null) this.#refuse(pending, refused);
    else if (isManagement) void manage!.answer(request, response, requestId);
    else if (headers.origin === undefined || !answeredCors(pending, guard.allowedOrigins)) this.#route(pending);
  }

  #route(pending: PendingRequest): void {
    const { method, url } = pending.request;
    const path = pathOf(url);
    const found = this.#router.find(method, path);
    pending.found = found;
    if (found?.route.access === 'key') this.#authenticate(pending, found.route);
    else if (found !== null) this.#read(pending, found);
    else this.#answerUnlisted(pending, method, path);
  }

  /** Authenticates first, so that a caller without a key cannot learn which paths exist. */
  #answerUnlisted(pending: PendingRequest, method: string, path: string): void {
    const operation = isGet(method) ? this.#terms.operations.get(path) : undefined;
    if (operation !== undefined)
      void sendOperations(pending.response, operation, identityLines(pending.requestId, null, null));
    else if (method === 'HEAD' && path === '/') this.#send(pending, 200, '', '');
    else this.#authenticate(pending, null);
  }

  #authenticate(pending: PendingRequest, route: Route | null): void {
    const admitCaller = (answer: Caller | GatewayError): void => {
      if (answer instanceof GatewayError) this.#refuse(pending, answer);
      else this.#admit(pending, answer, route !== null && ('wire' in route || route.isWork === true));
    };
    try {
      const answer = this.#terms.authenticate(pending.request);
      if (answer instanceof Promise) answer.then(admitCaller, (error: unknown) => this.#refuse(pending, error));
      else admitCaller(answer);
    } catch (error) {
      this.#refuse(pending, error);
    }
  }

  /** Checks the caller's limits and the headers of the body. */
  #admit(pending: PendingRequest, caller: Caller, isCall: boolean): void {
    pending.caller = caller;
    const route = pending.found?.route;
    const isCharged = route === undefined || 'wire' in route || route.readsBody === undefined;
    const refused =
      this.#terms.turnAway(caller, isCall) ??
      (isCharged ? this.#chargeBytes(caller, Number(pending.request.headers['content-length'])) : null) ??
      (route?.permission === undefined ? null : missingPermission(caller, route.permission)) ??
      checkBodyHead(pending.request.headers);
    if (refused !== null) this.#refuse(pending, refused);
    else if (pending.found !== null) this.#read(pending, pending.found);
    else this.#refuseUnknown(pending);
  }

  /** Charges a body to its key's budget. One without a length is charged when it has arrived; one too large gets a 413. */
  #chargeBytes(caller: Caller, bytes: number): GatewayError | null {
    const isCharged = bytes > 0 && bytes <= LIMITS.requestBodyBytesMax;
    return isCharged ? this.#terms.gateway.bodyBudgets.takeBody(caller, bytes) : null;
  }

  #refuseUnknown(pending: PendingRequest): void {
    const { routes } = this.#terms;
    const error = errorOfUnknownRoute(pending.request, routes);
    if (error.kind === 'method_not_allowed')
      pending.response.addLines(headerLine('allow', allowedAt(pending.request, routes).join(', ')));
    this.#refuse(pending, error);
  }

  #read(pending: PendingRequest, found: Found): void {
    const { route } = found;
    const isRead = 'wire' in route || route.readsBody === undefined;
    if (route.method === 'GET' || route.method === 'DELETE' || !isRead) {
      this.#run(pending, found, NO_BODY);
      return;
    }
    const bytesMax = 'wire' in route ? LIMITS.requestBodyBytesMax : (route.bodyBytesMax ?? LIMITS.plainBodyBytesMax);
    readRequestBody(pending.request, { ...this.#roomFor(pending), bytesMax }, (read) => {
      const body = this.#charged(pending, read);
      if (!(body instanceof GatewayError)) this.#run(pending, found, body);
      else {
        this.#freeBody(pending);
        // The rest of the body is not read.
        pending.response.closes = true;
        this.#refuse(pending, body);
      }
    });
  }

  #roomFor(pending: PendingRequest): BodyRoom {
    const { keyId, accountId } = payerOf(pending.caller);
    const { bodyMemory } = this.#terms;
    return {
      sendContinue: () => pending.response.sendContinue(),
      hasRoom: (bytes) => bodyMemory.fits(keyId, bytes, accountId),
      takeRoom: (bytes) => {
        if (!bodyMemory.take(keyId, bytes, accountId)) return false;
        pending.bodyBytes += bytes;
        return true;
      },
    };
  }

  #charged({ request, caller }: PendingRequest, body: Buffer | GatewayError): Buffer | GatewayError {
    const wasCharged = request.headers['content-length'] !== undefined;
    if (wasCharged || caller === null || body instanceof GatewayError) return body;
    return this.#chargeBytes(caller, body.length) ?? body;
  }

  #freeBody(pending: PendingRequest): void {
    if (pending.bodyBytes === 0) return;
    const { keyId, accountId } = payerOf(pending.caller);
    this.#terms.bodyMemory.free(keyId, pending.bodyBytes, accountId);
    pending.bodyBytes = 0;
  }

  #run(pending: PendingRequest, found: Found, body: Buffer): void {
    if ('wire' in found.route) void this.#call(pending, found, found.route, body);
    else void this.#answer(pending, found.route, found.param, body);
  }

  /** A billed call. From here on the response belongs to the exchange. */
  async #call(pending: PendingRequest, { route, model }: Found, { wire, run }: CallRoute, body: Buffer): Promise<void> {
    const { gateway, log } = this.#terms;
    const { id, requestId, startedMs, request } = pending;
    const sink = this.#sinkOf(pending);
    const common = { id, requestId, wire, caller: callerOf(pending), headers: request.headers, body, startedMs };
    const trace = gateway.tracing === null ? null : gateway.tracing.begin(request.headers);
    const call = { ...common, route: `/v1${route.path}`, pathModel: model ?? null, trace };
    gateway.runningCalls.begin();
    try {
      await run(gateway, call, sink);
    } catch (error) {
      log.error({ request_id: requestId, ...errorFields(error) }, 'A call failed unexpectedly.');
      sink.destroy();
    } finally {
      gateway.runningCalls.end();
      sink.callEnds();
      this.#freeBody(pending);
    }
  }

  async #answer(pending: PendingRequest, route: PlainRoute | PublicRoute, param: string, body: Buffer): Promise<void> {
    const { request, response, requestId } = pending;
    let given: PlainResponse;
    try {
      if (body !== NO_BODY)
        await checkKeyAgain(pending.found?.route.permission, () => this.#terms.authenticate(request));
      given = await (route.access === 'public'
        ? route.answer()
        : route.answer(this.#plainRequest(pending, route, param, body)));
    } catch (error) {
      // The rest of the body is not read.
      if (route.readsBody && !request.complete) response.closes = true;
      this.#refuse(pending, error);
      return;
    } finally {
      this.#freeBody(pending);
    }
    this.#note(pending, given.status, null);
    const lines = (given.lines ?? '') + (typeof given.body === 'string' ? JSON_LINE : '');
    const allLines = (given.hasIds ? '' : identityLines(requestId, null, null)) + lines;
    if (isWhole(given.body)) this.#sendWhole(pending, given.status, allLines, given.body ?? '', given.whenSent);
    else
      await sendPieces(response, given.status, allLines, { pieces: given.body, headOnly: request.method === 'HEAD' });
  }

  #plainRequest(pending: PendingRequest, { readsBody }: PlainRoute, param: string, body: Buffer): PlainRequest {
    const { request, response, id, requestId, startedMs } = pending;
    const left = new AbortController();
    response.onClose = () => left.abort();
    return {
      id,
      requestId,
      startedMs,
      caller: callerOf(pending),
      headers: request.headers,
      peerAddress: request.peerAddress,
      param: unescapedParam(param),
      query: queryOf(request.url),
      body,
      incoming: readsBody === undefined ? null : incomingBody(request, this.#roomFor(pending)),
      gone: left.signal,
    };
  }

  /** Sends an error in the shape that the route's clients read, with headers that say it cost nothing. */
  #refuse(pending: PendingRequest, cause: unknown): void {
    const { log, routes } = this.#terms;
    const { request, requestId } = pending;
    const error = asGatewayError(cause);
    // A client that waits for `100 Continue` and gets an error will not send its body.
    if (request.headers.expect !== undefined && !request.complete) pending.response.closes = true;
    if (error.kind === 'internal_error')
      log.error({ request_id: requestId, ...errorFields(cause) }, 'A request failed unexpectedly.');
    const wire = pending.found === null ? wireAt(request, routes) : wireOf(pending.found.route, request.headers);
    const written =
      wire === null
        ? { status: error.status, body: JSON.stringify(errorEnvelope(error)) }
        : wire.client.writeError(error, requestId);
    this.#noteRefusal(pending, error);
    this.#note(pending, written.status, error.code);
    this.#send(pending, written.status, errorLines(error) + FREE_LINES, written.body);
  }

  /** A call of a known caller that did not get as far as the exchange. */
  #noteRefusal({ id, caller, found }: PendingRequest, error: GatewayError): void {
    if (caller === null || found === null || !('wire' in found.route)) return;
    this.#terms.gateway.refusals.refused({ id, caller, route: `/v1${found.route.path}`, model: null }, error);
  }

  /** Adds the ids that calls write themselves. */
  #send(pending: PendingRequest, status: number, lines: string, body: string): void {
    this.#sendWhole(pending, status, identityLines(pending.requestId, null, null) + lines, body);
  }

  #sinkOf({ response, caller }: PendingRequest): ResponseSink {
    return new ResponseSink(response, this.#sinkTerms, new ResponseRoom(this.#terms.gateway.answers, caller));
  }

  #sendWhole(
    pending: PendingRequest,
    status: number,
    lines: string,
    body: string | Buffer,
    whenSent?: () => void,
  ): void {
    const { request, response } = pending;
    const isGone = response.destroyed;
    response.head(status, lines, Buffer.byteLength(body));
    const sink = this.#sinkOf(pending);
    if (isGone) whenSent?.();
    else if (whenSent !== undefined) callAfter(response, whenSent);
    if (!isStillSending(request, response)) sink.end(body);
    else {
      sink.write(body);
      discardRest(request, () => sink.end());
    }
  }

  #note(pending: PendingRequest, status: number, errorCode: string | null): void {
    logRequest(this.#terms.log, {
      requestId: pending.requestId,
      method: pending.request.method,
      // The pattern, never the path: a path may hold a caller's text.
      route: pending.found?.pattern ?? null,
      keyId: pending.caller?.keyId ?? null,
      status,
      errorCode,
      totalMs: this.#terms.gateway.clock.monotonicMs() - pending.startedMs,
    });
  }
}

/** `origins` and `allowed_hosts` do not apply to the management API. */
export const NO_EXCEPTIONS = { allowedHosts: [], allowedOrigins: [] };
const NO_BODY = Buffer.alloc(0);
const JSON_LINE = 'content-type: application/json; charset=utf-8\r\n';

function callerOf({ caller }: PendingRequest): Caller {
  if (caller === null) throw new Error('A route that needs a key was reached without a caller.');
  return caller;
}

/** Adds CORS headers for a listed origin; true if the request was a preflight and is answered. */
function answeredCors({ request, response, requestId }: PendingRequest, origins: readonly string[]): boolean {
  const { method, headers } = request;
  const preflight = method === 'OPTIONS' ? preflightHeaders(headers, origins) : null;
  if (preflight !== null) {
    response.head(204, identityLines(requestId, null, null) + headerLines(preflight), null);
    response.end();
    return true;
  }
  response.addLines(headerLines(corsHeaders(headers, origins)));
  return false;
}
