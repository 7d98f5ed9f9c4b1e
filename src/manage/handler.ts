import { authenticateManager, type Credentials, type ManagerTerms } from '../accounts/authenticate-manager.ts';
import type { Principal } from '../accounts/principal.ts';
import { operatorReceiptView } from '../canonical/receipt-view.ts';
import { ListRows, TOO_MANY_ROWS } from '../gateway/guards/list-rows.ts';
import { clientAddress, clientNetwork, isUntrustedProxy, type TrustedProxies } from '../http1/client-address.ts';
import { headerLine, headerLines } from '../http1/headers.ts';
import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { JsonError } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import type { ReceiptFeed } from '../ledger/receipt-feed.ts';
import { LIMITS } from '../limits.ts';
import type { Actor } from '../operator/actor.ts';
import { OperatorError } from '../operator/error.ts';
import { nothing } from '../operator/input.ts';
import { type OperatorServices, runVerb } from '../operator/operator.ts';
import { parseInput } from '../operator/parse-input.ts';
import { SignInError } from '../signin/error.ts';
import type { SignInServices, Visitor } from '../signin/services.ts';
import { authorize } from './authorize.ts';
import { CallerSlots } from './caller-slots.ts';
import { envelopeOf, headersOf, ManageError, unauthenticated } from './error.ts';
import { type ExportFormat, rowSchemaOf, takeFormat } from './export/format.ts';
import { type ListExport, type RowPage, sendList } from './export/send-list.ts';
import { feedFilterOf } from './feed/feed-filter.ts';
import { FeedStream } from './feed/feed-stream.ts';
import { meView } from './me-view.ts';
import { inputSchema } from './openapi/schema-book.ts';
import { ownAccounts } from './own-accounts.ts';
import { refuseForeignPage, requireOwnPage } from './own-page.ts';
import { PublicPages } from './pages.ts';
import { MANAGE_PREFIX } from './paths.ts';
import { readInput } from './request-input.ts';
import type { ManageResponse } from './response.ts';
import { inputSchemaOf } from './route.ts';
import { findRoute, MANAGE_ROUTES, type ManageRoute } from './routes.ts';
import { answerSignIn } from './sign-in/answer-sign-in.ts';
import { SIGN_IN_ROUTES } from './sign-in/routes.ts';

export interface ManageTerms extends ManagerTerms {
  /** The services that operations use, for the person or key that acts. */
  servicesFor(actor: Actor): OperatorServices;
  /** Origins under which this gateway is reached, exactly: scheme, host and port. */
  ownOrigins(): readonly string[];
  /** The origin of `public_url`, the only one whose pages may use a cookie. */
  readonly publicOrigin: string | null;
  /** Null in local mode, where nobody signs in. */
  readonly signIn: SignInServices | null;
  readonly isTrustedProxy: TrustedProxies;
  readonly receiptFeed: ReceiptFeed;
  readonly log: Log;
  /** The version of this program, for the description of the API. */
  readonly version: string;
}

/** Answers every request below `/manage/`, and those for the pages that describe it. It never throws. */
export class ManageHandler {
  readonly #terms: ManageTerms;
  readonly #pages: PublicPages;
  readonly #requests = new CallerSlots({ what: 'requests', perCallerMax: LIMITS.managementRequestsMax });
  readonly #exports = new CallerSlots({ what: 'exports', perCallerMax: LIMITS.managementExportsMax });
  readonly #rows: ListRows;
  readonly #feedSlots = new CallerSlots({
    what: 'feeds',
    perCallerMax: LIMITS.receiptFeedsPerCallerMax,
    max: LIMITS.receiptFeedsMax,
    reserved: LIMITS.receiptFeedsReserved,
  });
  readonly #feeds = new Set<FeedStream>();
  #hasWarned = false;

  constructor(terms: ManageTerms) {
    this.#terms = terms;
    this.#rows = new ListRows(terms.clock);
    this.#pages = new PublicPages(terms.version, MANAGE_PREFIX, terms.signIn === null ? 'local' : 'hosted');
  }

  /** Ends the responses that would go on for ever. */
  endFeeds(): void {
    for (const feed of this.#feeds) feed.end();
    this.#terms.receiptFeed.close();
  }

  async answer(request: InboundRequest, response: OutboundResponse, requestId: string): Promise<void> {
    try {
      await this.#respond(request, response, requestId);
    } catch (error) {
      this.#terms.log.error({ request_id: requestId, ...errorFields(error) }, 'A management response failed.');
      response.destroy();
    }
  }

  async #respond(request: InboundRequest, response: OutboundResponse, requestId: string): Promise<void> {
    if (this.#pages.answer(request, response, requestId)) return;
    const answer = await this.#answerOrRefuse(request, requestId);
    if (!request.complete) response.closes = true;
    if (answer instanceof FeedStream) {
      answer.start(response, requestId);
      return;
    }
    if ('list' in answer) {
      await this.#send(answer, response, requestId);
      return;
    }
    const { status, body, headers, cookies = [], end = null } = answer;
    if (response.destroyed) end?.();
    else response.onClose = end;
    const text = stringifyJson(body);
    const common = {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-gateway-request-id': requestId,
    };
    const cookieLines = cookies.map((cookie) => headerLine('set-cookie', cookie)).join('');
    response.head(status, headerLines({ ...common, ...headers }) + cookieLines, Buffer.byteLength(text));
    response.end(text);
  }

  /** An error after the head breaks the connection, so that a partial list is not taken for a whole one. */
  async #send({ list, end }: ExportResponse, response: OutboundResponse, requestId: string): Promise<void> {
    try {
      await sendList(list, response, requestId);
    } catch (error) {
      const level = error instanceof ManageError ? 'info' : 'error';
      this.#terms.log[level]({ request_id: requestId, ...errorFields(error) }, 'An export was interrupted.');
      response.destroy();
    } finally {
      end();
    }
  }

  async #answerOrRefuse(request: InboundRequest, requestId: string): Promise<AnyAnswer> {
    try {
      return await this.#run(request);
    } catch (error) {
      const refused = asManageError(error);
      if (refused.status === 500)
        this.#terms.log.error(
          { request_id: requestId, ...errorFields(error) },
          'A management request failed unexpectedly.',
        );
      return { status: refused.status, body: envelopeOf(refused), headers: headersOf(refused) };
    }
  }

  /** Authentication comes before everything that could tell a stranger what exists. */
  async #run(request: InboundRequest): Promise<AnyAnswer> {
    const { pathname, searchParams } = new URL(request.url, 'http://gateway.invalid');
    const path = pathname.startsWith(`${MANAGE_PREFIX}/`) ? pathname.slice(MANAGE_PREFIX.length) : '';
    const visitor = visitorOf(request, this.#terms);
    this.#warnOfProxy(request);
    const { authorization, cookie, 'last-event-id': lastEventId } = request.headers;
    const credentials = { authorization, cookie, address: visitor.address };
    const principal = await authenticateManager(credentials, this.#terms);
    const recogniseAgain = () => authenticateManager({ ...credentials, isUse: false }, this.#terms);
    const { signIn, publicOrigin } = this.#terms;
    const own = signIn === null ? NO_ROUTE : findRoute(SIGN_IN_ROUTES, request.method, path);
    if (signIn !== null && 'route' in own) {
      const asking = { principal, recogniseAgain, visitor, services: signIn, publicOrigin };
      return answerSignIn(request, own, searchParams, asking);
    }
    if (principal === null) throw unauthenticated();
    if (principal.sessionId === null) refuseForeignPage(request, this.#terms.ownOrigins());
    else requireOwnPage(request, publicOrigin);
    const found = findRoute(MANAGE_ROUTES, request.method, path);
    if (!('route' in found))
      throw unknownRoute([...found.methods, ...('methods' in own ? own.methods : [])], request.method);
    const { route } = found;
    if (principal.isReadOnly && route.method !== 'GET')
      throw new ManageError(403, 'permission_denied', 'This management key is read-only.');
    const format = takeFormat(route, searchParams, request.headers.accept);
    const isLate = !request.complete;
    const input = await readInput(request, found, searchParams);
    if (route.streams && lastEventId !== undefined) input.after = lastEventId;
    // A body may take minutes to arrive, and the session, key or role may have ended since.
    const principalNow = isLate ? await recogniseAgain() : principal;
    if (principalNow === null) throw unauthenticated();
    return this.#perform({ principal: principalNow, route, input, credentials }, format);
  }

  /** Once: either the proxy is missing in the configuration, or a client made the header up. */
  #warnOfProxy({ peerAddress, headers }: InboundRequest): void {
    const { signIn, isTrustedProxy, log } = this.#terms;
    if (this.#hasWarned || signIn === null) return;
    if (!isUntrustedProxy(peerAddress, headers['x-forwarded-for'], isTrustedProxy)) return;
    this.#hasWarned = true;
    log.warn(
      { address: peerAddress },
      'A request has X-Forwarded-For, but its sender is not in trusted_proxies, so the header is ignored. If the sender is your proxy, add it: until then everybody behind it shares one limit of failed sign-ins.',
    );
  }

  /** Its slot is free when its response has been read. Feeds and exports have slots of their own. */
  async #perform(asked: Asked, format: ExportFormat | null): Promise<AnyAnswer> {
    const end = this.#requests.take(payerOf(asked.principal));
    let isOver = true;
    try {
      const answer = await this.#authorized(asked, format);
      isOver = answer instanceof FeedStream || 'list' in answer;
      return isOver ? answer : { ...(answer as ManageResponse), end };
    } finally {
      if (isOver) end();
    }
  }

  async #authorized(asked: Asked, format: ExportFormat | null): Promise<AnyAnswer> {
    const { principal, route, input } = asked;
    const services = this.#terms.servicesFor(principal.actor);
    const allowed = await authorize(principal, route, input, services);
    const check = (): Promise<void> => this.#checkAgain(asked, allowed, services);
    if (route.streams) return this.#feed(asked, allowed, services, check);
    const run = async (given: Record<string, unknown>): Promise<object> =>
      visibleTo(principal, route, await resultOf(principal, route, given, services));
    if (format !== null) return this.#export(asked, allowed, format, { run, check });
    const result = await this.#counted(asked, () => run(allowed));
    const version = 'version' in result ? { etag: `"${result.version}"` } : {};
    return { status: route.creates ? 201 : 200, body: result, headers: version };
  }

  /** Refuses lists to somebody who reads too many rows. Operators may: they could stop the gateway as well. */
  async #counted({ principal, route }: Asked, run: () => Promise<object>): Promise<object> {
    const reader = principal.isOperator || rowSchemaOf(route) === null ? null : payerOf(principal).id;
    if (reader === null) return run();
    const retryMs = this.#rows.waitMs(reader);
    if (retryMs > 0) throw new ManageError(429, 'rate_limit_exceeded', TOO_MANY_ROWS, { retryMs });
    const result = await run();
    if ('data' in result && Array.isArray(result.data)) this.#rows.spend(reader, result.data.length);
    return result;
  }

  /** For a response that takes long: throws if the same request would no longer be allowed. */
  async #checkAgain(
    { principal, route, input, credentials }: Asked,
    allowed: Record<string, unknown>,
    services: OperatorServices,
  ): Promise<void> {
    const now = await authenticateManager({ ...credentials, isUse: false }, this.#terms);
    if (now === null || now.isOperator !== principal.isOperator) throw unauthenticated();
    const allowedNow = await authorize(now, route, input, services);
    if (allowedNow.person !== allowed.person) throw unauthenticated();
  }

  async #feed(
    { principal, route }: Asked,
    allowed: Record<string, unknown>,
    services: OperatorServices,
    check: () => Promise<void>,
  ): Promise<FeedStream> {
    const filter = await feedFilterOf(allowed, services);
    const end = this.#feedSlots.take(payerOf(principal), principal.isOperator ? null : filter.accountId);
    try {
      const stream = await FeedStream.open({
        feed: this.#terms.receiptFeed,
        filter,
        after: typeof allowed.after === 'string' ? allowed.after : null,
        clock: this.#terms.clock,
        view: (receipt) => visibleTo(principal, route, operatorReceiptView(receipt)),
        check,
        onEnd: () => {
          this.#feeds.delete(stream);
          end();
        },
      });
      this.#feeds.add(stream);
      return stream;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Everything that the filters allow, or as many rows as `limit` says. */
  async #export(
    { principal, route }: Asked,
    input: Record<string, unknown>,
    format: ExportFormat,
    { run, check }: { run(input: Record<string, unknown>): Promise<object>; check(): Promise<void> },
  ): Promise<ExportResponse> {
    const payer = payerOf(principal);
    const end = this.#exports.take(payer);
    const reader = principal.isOperator ? null : payer.id;
    const isPaged = 'limit' in inputSchema(inputSchemaOf(route)).properties;
    let left = typeof input.limit === 'number' ? input.limit : Number.POSITIVE_INFINITY;
    // A search may find fewer rows than were asked for although more follow.
    const read = async (given: Record<string, unknown>): Promise<RowPage> => {
      if (reader !== null) await this.#rows.untilPlenty(reader);
      const page = (await run(given)) as RowPage;
      left -= page.data.length;
      if (reader !== null) this.#rows.spend(reader, page.data.length);
      return isPaged && left > 0 ? page : { ...page, next: null };
    };
    const asked = isPaged ? { limit: LIMITS.managementExportPageRows, ...input } : input;
    try {
      const list: ListExport = {
        format,
        name: route.path
          .slice(1)
          .replace(/\{\w+\}/g, '')
          .replaceAll(/\W+/g, '-'),
        row: rowSchemaOf(route)!,
        hidden: principal.isOperator ? [] : (route.operatorMembers ?? []),
        first: await read(asked),
        more: async (after) => {
          await check();
          return read({ ...asked, limit: Math.min(left, LIMITS.managementExportPageRows), after });
        },
      };
      return { list, end };
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** A request to a route, by somebody who was let in. */
interface Asked {
  readonly principal: Principal;
  readonly route: ManageRoute;
  readonly input: Record<string, unknown>;
  readonly credentials: Credentials;
}

type AnyAnswer = ManageResponse | ExportResponse | FeedStream;

/** A list to be sent page by page, and what to call when it has ended. */
interface ExportResponse {
  readonly list: ListExport;
  end(): void;
}

async function resultOf(
  principal: Principal,
  { verb }: ManageRoute,
  input: Record<string, unknown>,
  services: OperatorServices,
): Promise<object> {
  if (verb === 'me') {
    parseInput(nothing, input);
    return meView(principal);
  }
  if (verb === 'own.accounts')
    return principal.isOperator ? runVerb(services, 'accounts.list', input) : ownAccounts(principal, services, input);
  if (verb === 'managementkeys.mint' && principal.actor.kind === 'management_key')
    throw new ManageError(
      403,
      'permission_denied',
      'A management key cannot create management keys, because they would outlive it.',
    );
  return runVerb(services, verb, input);
}

/** Who has the slots of a request: the management keys of one account share them, because it may have many keys. */
function payerOf({ actor, isOperator, roles }: Principal): Actor {
  const [accountId = null] = roles.keys();
  return actor.kind === 'management_key' && !isOperator ? { ...actor, id: accountId } : actor;
}

const NO_ROUTE = { methods: [] };

function visitorOf({ peerAddress, headers }: InboundRequest, { isTrustedProxy }: ManageTerms): Visitor {
  const address = clientAddress(peerAddress, headers['x-forwarded-for'], isTrustedProxy);
  const client = address === null ? 'unknown' : clientNetwork(address);
  return { address, client, userAgent: headers['user-agent'] ?? '', cookies: headers.cookie };
}

/** Leaves out what only operators see, from a resource or from each row of a list. */
function visibleTo({ isOperator }: Principal, { operatorMembers }: ManageRoute, result: object): object {
  if (isOperator || operatorMembers === undefined) return result;
  const visible = (row: object): object =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !operatorMembers.includes(name)));
  if (!('data' in result)) return visible(result);
  return { ...result, data: (result.data as readonly object[]).map(visible) };
}

function unknownRoute(methods: readonly string[], method: string): ManageError {
  return methods.length === 0
    ? new ManageError(404, 'unknown_url', 'There is no such route of the management API.')
    : new ManageError(405, 'method_not_allowed', `${method} is not allowed here. Use ${methods.join(' or ')}.`, {
        allow: methods,
      });
}

function asManageError(error: unknown): ManageError {
  if (error instanceof ManageError) return error;
  if (error instanceof JsonError)
    return new ManageError(400, 'invalid_request_body', error.message, { param: error.path || null });
  if (error instanceof StoreUnavailable) return new ManageError(503, 'unavailable', error.message);
  if (error instanceof SignInError)
    return new ManageError(error.status, error.code, error.message, { retryMs: error.retryMs });
  if (!(error instanceof OperatorError))
    return new ManageError(500, 'internal_error', 'The request failed unexpectedly.');
  const retryMs = error.code === 'rate_limit_exceeded' ? 1_000 : null;
  return new ManageError(error.status, error.code, error.message, { retryMs, param: error.param });
}
