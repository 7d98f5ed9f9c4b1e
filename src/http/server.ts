import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/authenticate.ts';
import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { asGatewayError, errorHeaders, identityHeaders } from '../gateway/refuse.ts';
import { formatId } from '../kit/ids.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { answerBrokenRequest, answerOddRequests } from './broken-request.ts';
import { logRequest } from './call-log.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { wireAt, wireOf } from './error-shape.ts';
import { errorOfServer, errorOfUnknownRoute, methodsAt } from './errors.ts';
import { checkOrigin, type GuardTerms } from './guard.ts';
import { checkBodyHead, checkHead } from './request-head.ts';
import { ResponseSink } from './response-sink.ts';
import { type CallRoute, type PlainHandler, PREFIXES, type Route } from './routes.ts';

export interface ServerTerms {
  readonly gateway: Gateway;
  readonly routes: readonly Route[];
  authenticate(rawHeaders: readonly string[]): Caller | GatewayError | Promise<Caller | GatewayError>;
  /** Refuses a caller who asks too often, and calls while there are too many; null lets in. */
  turnAway(caller: Caller, isCall: boolean): GatewayError | null;
  readonly guard: GuardTerms;
  /** How long a client may take to send a head, and a whole request. */
  readonly patience: { readonly requestHeadMs: number; readonly requestMs: number };
  readonly log: Log;
  /** True once the process was told to stop: connections are no longer kept. */
  draining(): boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    callId: bigint;
    callText: string;
    startedMs: number;
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** Absent where nothing answers. */
    route?: Route;
  }
}

/** The one router. Every request gets its id first, then passes the guard and the one authentication, then its body is read. */
export function buildServer(terms: ServerTerms): FastifyInstance {
  const server = Fastify({
    bodyLimit: LIMITS.requestBodyBytesMax,
    routerOptions: { maxParamLength: LIMITS.pathCharactersMax },
    requestTimeout: terms.patience.requestMs,
    keepAliveTimeout: LIMITS.clientKeepAliveMs,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) =>
      refuseAddress(request, reply, terms),
    http: {
      maxHeaderSize: LIMITS.requestHeaderBytesMax,
      headersTimeout: Math.min(terms.patience.requestHeadMs, terms.patience.requestMs),
      connectionsCheckingInterval: Math.min(LIMITS.connectionsCheckMs, terms.patience.requestHeadMs),
      // Said in our own words.
      requireHostHeader: false,
    },
  } as Parameters<typeof Fastify>[0]) as unknown as FastifyInstance;
  // Headers beyond a count of Node's would be dropped unseen; ours refuses, and their bytes are bounded.
  server.server.maxHeadersCount = 0;
  answerOddRequests(server.server);
  takeRawBodies(server);
  stampRequests(server, terms);
  for (const route of terms.routes) addRoute(server, route, terms);
  server.head('/', (_request, reply) => reply.code(200).send());
  server.setNotFoundHandler((request, reply) => {
    const error = errorOfUnknownRoute(request.raw, terms.routes);
    if (error.kind === 'method_not_allowed') reply.header('allow', methodsAt(request.raw, terms.routes).join(', '));
    return sendError(request, reply, error, terms);
  });
  server.setErrorHandler((error: Error & { code?: string; statusCode?: number }, request, reply) => {
    const known = error instanceof GatewayError ? error : errorOfServer(error, request.routeOptions.bodyLimit);
    if (known === null)
      terms.log.error({ request_id: request.callText, ...errorFields(error) }, 'A request failed unexpectedly.');
    return sendError(request, reply, known ?? asGatewayError(error), terms);
  });
  return server;
}

/** The address itself could not be read, so no hook has seen this request. */
function refuseAddress(request: FastifyRequest, reply: FastifyReply, terms: ServerTerms): FastifyReply {
  stamp(request, terms.gateway);
  const error = new GatewayError('bad_request', { message: 'The address of this request cannot be read.' });
  return sendError(request, reply.headers(identityHeaders(request.callText, null, null)), error, terms);
}

/** Bodies stay bytes: they are understood once, by the wire. */
function takeRawBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

function stampRequests(server: FastifyInstance, terms: ServerTerms): void {
  const { gateway, guard } = terms;
  server.decorateRequest('callId', 0n);
  server.decorateRequest('callText', '');
  server.decorateRequest('startedMs', 0);
  server.decorateRequest('caller', null);
  const authenticateRequest = authentication(terms, false);
  server.addHook('onRequest', (request, reply, done) => {
    stamp(request, gateway);
    if (terms.draining()) reply.raw.setHeader('connection', 'close');
    const unclear = checkHead(request.raw);
    if (unclear !== null) reply.raw.setHeader('connection', 'close');
    const refused = unclear ?? checkOrigin(request.headers, guard);
    if (refused !== null) return done(refused);
    if (request.headers.origin !== undefined && answeredCors(request, reply, guard.allowedOrigins)) return;
    // Who may not ask learns nothing, not even which paths there are.
    if (request.is404) authenticateRequest(request, reply, done);
    else done();
  });
  // Calls take their response over and write the same ids themselves.
  server.addHook('onSend', (request, reply, payload, done) => {
    reply.headers(identityHeaders(request.callText, null, null));
    done(null, payload);
  });
}

function stamp(request: FastifyRequest, { ids, clock }: Gateway): void {
  request.callId = ids.next();
  request.callText = formatId('req_', request.callId);
  request.startedMs = clock.monotonicMs();
}

/** Adds the headers a listed page needs; true if the request was the browser's preflight and is answered. */
function answeredCors(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  for (const [name, value] of Object.entries(corsHeaders(request.headers, origins))) reply.raw.setHeader(name, value);
  if (request.method !== 'OPTIONS') return false;
  const preflight = preflightHeaders(request.headers, origins);
  if (preflight === null) return false;
  reply.hijack();
  reply.raw.writeHead(204, preflight).end();
  return true;
}

function addRoute(server: FastifyInstance, route: Route, terms: ServerTerms): void {
  for (const prefix of PREFIXES) {
    server.route({
      method: route.method,
      url: prefix + route.path,
      ...(route.access === 'key' ? { onRequest: authentication(terms, 'wire' in route) } : {}),
      config: { route },
      ...('wire' in route ? {} : { bodyLimit: LIMITS.plainBodyBytesMax }),
      handler: 'wire' in route ? callHandler(terms, route, `/v1${route.path}`) : plainHandler(terms, route.answer),
    });
  }
}

/** Who asks, whether they may ask now, and whether what they will send can be read. */
function authentication(terms: ServerTerms, isCall: boolean) {
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const admitCaller = (answer: Caller | GatewayError): void => {
      if (answer instanceof GatewayError) {
        done(answer);
        return;
      }
      request.caller = answer;
      done(terms.turnAway(answer, isCall) ?? checkBodyHead(request.headers) ?? undefined);
    };
    const refuse = (error: unknown): void => done(asGatewayError(error));
    try {
      const answer = terms.authenticate(request.raw.rawHeaders);
      if (answer instanceof Promise) answer.then(admitCaller, refuse);
      else admitCaller(answer);
    } catch (error) {
      refuse(error);
    }
  };
}

/** A billed call: from here on the response belongs to the exchange. */
function callHandler({ gateway, log, draining }: ServerTerms, { wire, run }: CallRoute, route: string) {
  const { clock, shutdown, limits } = gateway;
  const sinkTerms = { clock, stallMs: limits.stallMs, draining };
  return (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    const sink = new ResponseSink(reply.raw, sinkTerms);
    shutdown.callBegins();
    run(
      gateway,
      {
        id: request.callId,
        requestId: request.callText,
        route,
        wire,
        caller: request.caller!,
        headers: request.headers,
        body: Buffer.isBuffer(request.body) ? request.body : NO_BODY,
        startedMs: request.startedMs,
      },
      sink,
    )
      .catch((error: unknown) => {
        log.error({ request_id: request.callText, ...errorFields(error) }, 'A call failed in a way nobody foresaw.');
        sink.destroy();
      })
      .finally(() => shutdown.callEnds());
  };
}

const NO_BODY = Buffer.alloc(0);

function plainHandler(terms: ServerTerms, answer: PlainHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const param = (request.params as Record<string, string>)['*'] ?? '';
    const sent = Buffer.isBuffer(request.body) ? request.body : NO_BODY;
    const { status, body } = await answer({ caller: request.caller, headers: request.headers, param, body: sent });
    noteRequest(request, status, null, terms);
    reply.code(status);
    return body === null ? reply.send() : reply.type('application/json; charset=utf-8').send(body);
  };
}

/** Refused before any wire understood the request: in the shape the route's clients read, and with the promise that it cost nothing. */
function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: GatewayError,
  terms: ServerTerms,
): FastifyReply {
  const { route } = request.routeOptions.config;
  const { headers, raw } = request;
  const wire = route === undefined ? wireAt(raw, terms.routes) : wireOf(route, headers);
  const written =
    wire === null
      ? { status: error.status, body: JSON.stringify(errorEnvelope(error)) }
      : wire.client.writeError(error, request.callText);
  noteRequest(request, written.status, error.code, terms);
  return reply
    .code(written.status)
    .headers({ ...errorHeaders(error), 'x-gateway-cost-nanousd': '0' })
    .send(written.body);
}

function noteRequest(request: FastifyRequest, status: number, errorCode: string | null, terms: ServerTerms): void {
  logRequest(terms.log, {
    requestId: request.callText,
    method: request.method,
    // The pattern, never the path: callers put all sorts of things into paths.
    route: request.routeOptions.url ?? null,
    keyId: request.caller?.keyId ?? null,
    status,
    errorCode,
    totalMs: terms.gateway.clock.monotonicMs() - request.startedMs,
  });
}
