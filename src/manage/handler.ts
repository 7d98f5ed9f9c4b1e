import { authenticateManager, type ManagerTerms } from '../accounts/authenticate-manager.ts';
import type { Principal } from '../accounts/principal.ts';
import { clientAddress, clientNetwork, type TrustedProxies } from '../http1/client-address.ts';
import { headerLine, headerLines } from '../http1/headers.ts';
import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { JsonError } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { Actor } from '../operator/actor.ts';
import { OperatorError } from '../operator/error.ts';
import { type OperatorServices, runVerb } from '../operator/operator.ts';
import { accountView, listView } from '../operator/view.ts';
import { SignInError } from '../signin/error.ts';
import type { SignInServices, Visitor } from '../signin/services.ts';
import type { Answer } from './answer.ts';
import { authorize } from './authorize.ts';
import { envelopeOf, headersOf, ManageError, unauthenticated } from './error.ts';
import { ExportSlots } from './export/export-slots.ts';
import { type ExportFormat, rowSchemaOf, takeFormat } from './export/format.ts';
import { type ListExport, type RowPage, sendList } from './export/send-list.ts';
import { meView } from './me-view.ts';
import { inputSchema } from './openapi/schema-book.ts';
import { refuseForeignPage, requireOwnPage } from './own-page.ts';
import { PublicPages } from './pages.ts';
import { readInput } from './request-input.ts';
import { inputSchemaOf } from './route.ts';
import { findRoute, MANAGE_ROUTES, type ManageRoute } from './routes.ts';
import { answerSignIn } from './sign-in/answer-sign-in.ts';
import { SIGN_IN_ROUTES } from './sign-in/routes.ts';

export const MANAGE_PREFIX = '/manage/v1';
/** Nearly every request goes there, so it is the first thing to look for. */
const CALLS_PREFIX = '/v1/';

export interface ManageTerms extends ManagerTerms {
  /** The verbs' services for whoever acts. */
  servicesFor(actor: Actor): OperatorServices;
  /** Origins under which this gateway is reached, exactly: scheme, host and port. */
  ownOrigins(): readonly string[];
  /** The origin of `public_url`, the only one whose pages may use a cookie. */
  readonly publicOrigin: string | null;
  /** Null in local mode, where nobody signs in. */
  readonly signIn: SignInServices | null;
  readonly isTrustedProxy: TrustedProxies;
  readonly log: Log;
  /** Of this program, for the description of the API. */
  readonly version: string;
}

/** Answers every request below `/manage/`, and those for the pages that describe it. It never throws. */
export class ManageHandler {
  readonly #terms: ManageTerms;
  readonly #pages: PublicPages;
  readonly #exports = new ExportSlots();

  constructor(terms: ManageTerms) {
    this.#terms = terms;
    this.#pages = new PublicPages(terms.version, MANAGE_PREFIX);
  }

  serves(url: string): boolean {
    if (url.startsWith(CALLS_PREFIX)) return false;
    return url.startsWith('/manage/') || this.#pages.has(url);
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
    if ('list' in answer) {
      await this.#send(answer, response, requestId);
      return;
    }
    const { status, body, headers, cookies = [] } = answer;
    const text = stringifyJson(body);
    const common = {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-gateway-request-id': requestId,
    };
    const cookieLines = cookies.map((cookie) => headerLine('set-cookie', cookie)).join('');
    response.head(status, headerLines({ ...common, ...headers }) + cookieLines, Buffer.byteLength(text));
    response.end(text);
  }

  /** An error after the head breaks the connection, so that a partial list is not taken for a whole one. */
  async #send({ list, end }: ExportAnswer, response: OutboundResponse, requestId: string): Promise<void> {
    try {
      await sendList(list, response, requestId);
    } catch (error) {
      this.#terms.log.error({ request_id: requestId, ...errorFields(error) }, 'An export broke off.');
      response.destroy();
    } finally {
      end();
    }
  }

  async #answerOrRefuse(request: InboundRequest, requestId: string): Promise<Answer | ExportAnswer> {
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
  async #run(request: InboundRequest): Promise<Answer | ExportAnswer> {
    const { pathname, searchParams } = new URL(request.url, 'http://gateway.invalid');
    const path = pathname.startsWith(`${MANAGE_PREFIX}/`) ? pathname.slice(MANAGE_PREFIX.length) : '';
    const visitor = visitorOf(request, this.#terms);
    const { authorization, cookie } = request.headers;
    const principal = await authenticateManager({ authorization, cookie, address: visitor.address }, this.#terms);
    const { signIn, publicOrigin } = this.#terms;
    const own = signIn === null ? NO_ROUTE : findRoute(SIGN_IN_ROUTES, request.method, path);
    if (signIn !== null && 'route' in own)
      return answerSignIn(request, own, searchParams, { principal, visitor, services: signIn, publicOrigin });
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
    return this.#perform(principal, route, await readInput(request, found, searchParams), format);
  }

  async #perform(
    principal: Principal,
    route: ManageRoute,
    input: Record<string, unknown>,
    format: ExportFormat | null,
  ): Promise<Answer | ExportAnswer> {
    const services = this.#terms.servicesFor(principal.actor);
    const allowed = await authorize(principal, route, input, services);
    const run = async (given: Record<string, unknown>): Promise<object> =>
      visibleTo(principal, route, await resultOf(principal, route, given, services));
    if (format !== null) return this.#export(principal, route, allowed, format, run);
    const result = await run(allowed);
    const version = 'version' in result ? { etag: `"${result.version}"` } : {};
    return { status: route.creates ? 201 : 200, body: result, headers: version };
  }

  /** Everything that the filters allow, or as many rows as `limit` says. */
  async #export(
    { actor, isOperator }: Principal,
    route: ManageRoute,
    input: Record<string, unknown>,
    format: ExportFormat,
    run: (input: Record<string, unknown>) => Promise<object>,
  ): Promise<ExportAnswer> {
    const end = this.#exports.take(actor);
    const isBounded = input.limit !== undefined;
    const isPaged = 'limit' in inputSchema(inputSchemaOf(route)).properties;
    const read = async (given: Record<string, unknown>): Promise<RowPage> => {
      const page = (await run(given)) as RowPage;
      return isBounded ? { ...page, next: null } : page;
    };
    const asked = isPaged && !isBounded ? { ...input, limit: LIMITS.managementExportPageRows } : input;
    try {
      const list: ListExport = {
        format,
        name: route.path
          .slice(1)
          .replace(/\{\w+\}/g, '')
          .replaceAll(/\W+/g, '-'),
        row: rowSchemaOf(route)!,
        hidden: isOperator ? [] : (route.operatorMembers ?? []),
        first: await read(asked),
        more: (after) => read({ ...asked, after }),
      };
      return { list, end };
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** A list to be sent page by page, and what to call when it has ended. */
interface ExportAnswer {
  readonly list: ListExport;
  end(): void;
}

async function resultOf(
  principal: Principal,
  { verb }: ManageRoute,
  input: Record<string, unknown>,
  services: OperatorServices,
): Promise<object> {
  if (verb === 'me') return meView(principal);
  if (verb === 'own.accounts')
    return principal.isOperator ? runVerb(services, 'accounts.list', input) : ownAccounts(principal, services);
  if (verb === 'managementkeys.mint' && principal.actor.kind === 'management_key')
    throw new ManageError(
      403,
      'permission_denied',
      'A management key mints no management keys: they would outlive it.',
    );
  return runVerb(services, verb, input);
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

async function ownAccounts({ roles }: Principal, { store }: OperatorServices): Promise<object> {
  const accounts = await Promise.all([...roles.keys()].map((id) => store.findAccount(id)));
  const found = accounts.filter((account) => account !== null);
  return listView(found.map(accountView), found.length + 1);
}

function unknownRoute(methods: readonly string[], method: string): ManageError {
  return methods.length === 0
    ? new ManageError(404, 'unknown_url', 'There is no such route of the management API.')
    : new ManageError(405, 'method_not_allowed', `${method} is not allowed here. Use ${methods.join(' or ')}.`);
}

function asManageError(error: unknown): ManageError {
  if (error instanceof ManageError) return error;
  if (error instanceof JsonError) return new ManageError(400, 'invalid_request_body', error.message);
  if (error instanceof StoreUnavailable) return new ManageError(503, 'unavailable', error.message);
  if (error instanceof SignInError) return new ManageError(error.status, error.code, error.message, error.retryMs);
  if (!(error instanceof OperatorError))
    return new ManageError(500, 'internal_error', 'The request failed unexpectedly.');
  return new ManageError(error.status, error.code, error.message);
}
