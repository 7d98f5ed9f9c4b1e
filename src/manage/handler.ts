import { authenticateManager, type ManagerTerms } from '../accounts/authenticate-manager.ts';
import type { Principal } from '../accounts/principal.ts';
import { headerLines } from '../http1/headers.ts';
import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { JsonError } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import type { Actor } from '../operator/actor.ts';
import { OperatorError } from '../operator/error.ts';
import { type OperatorServices, runVerb } from '../operator/operator.ts';
import { accountView, listView } from '../operator/view.ts';
import { authorize } from './authorize.ts';
import { envelopeOf, ManageError } from './error.ts';
import { meView } from './me-view.ts';
import { readInput } from './request-input.ts';
import { findRoute, type ManageRoute } from './routes.ts';

export const MANAGE_PREFIX = '/manage/v1';

export interface ManageTerms extends ManagerTerms {
  /** The verbs' services for whoever acts. */
  servicesFor(actor: Actor): OperatorServices;
  /** Origins under which this gateway is reached, exactly: scheme, host and port. */
  ownOrigins(): readonly string[];
  readonly log: Log;
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers every request below `/manage/`. It never throws. */
export class ManageHandler {
  readonly #terms: ManageTerms;

  constructor(terms: ManageTerms) {
    this.#terms = terms;
  }

  async answer(request: InboundRequest, response: OutboundResponse, requestId: string): Promise<void> {
    const { status, body, headers } = await this.#answerOrRefuse(request, requestId);
    if (!request.complete) response.closes = true;
    const text = stringifyJson(body);
    const common = {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-gateway-request-id': requestId,
    };
    response.head(status, headerLines({ ...common, ...headers }), Buffer.byteLength(text));
    response.end(text);
  }

  async #answerOrRefuse(request: InboundRequest, requestId: string): Promise<Answer> {
    try {
      return await this.#run(request);
    } catch (error) {
      const refused = asManageError(error);
      if (refused.status === 500)
        this.#terms.log.error(
          { request_id: requestId, ...errorFields(error) },
          'A management request failed unexpectedly.',
        );
      const wanted = refused.status === 401 ? { 'www-authenticate': 'Bearer' } : {};
      return { status: refused.status, body: envelopeOf(refused), headers: wanted };
    }
  }

  /** Authentication comes before everything that could tell a stranger what exists. */
  async #run(request: InboundRequest): Promise<Answer> {
    this.#refuseForeignPages(request);
    const principal = await authenticateManager(request.headers.authorization, null, this.#terms);
    if (principal === null)
      throw new ManageError(401, 'unauthenticated', 'Send a management key as `authorization: Bearer tg_mgmt_…`.');
    const { pathname, searchParams } = new URL(request.url, 'http://gateway.invalid');
    const found = findRoute(request.method, pathname.slice(MANAGE_PREFIX.length));
    if (!('route' in found) || !pathname.startsWith(`${MANAGE_PREFIX}/`)) throw unknownRoute(found, request.method);
    const { route } = found;
    if (principal.isReadOnly && route.method !== 'GET')
      throw new ManageError(403, 'permission_denied', 'This management key is read-only.');
    return this.#perform(principal, route, await readInput(request, found, searchParams));
  }

  /** A browser names the page that asks. Only our own pages may, exactly. */
  #refuseForeignPages({ headers }: InboundRequest): void {
    const { origin } = headers;
    if (origin !== undefined && !this.#terms.ownOrigins().includes(origin))
      throw new ManageError(403, 'forbidden_origin', 'Only pages of this gateway may use the management API.');
  }

  async #perform(principal: Principal, route: ManageRoute, input: Record<string, unknown>): Promise<Answer> {
    const services = this.#terms.servicesFor(principal.actor);
    if (route.verb === 'me') return { status: 200, body: meView(principal) };
    if (route.verb === 'own.accounts' && !principal.isOperator)
      return { status: 200, body: await ownAccounts(principal, services) };
    await authorize(principal, route, input, services);
    if (route.verb === 'managementkeys.mint' && principal.actor.kind === 'management_key')
      throw new ManageError(
        403,
        'permission_denied',
        'A management key mints no management keys: they would outlive it.',
      );
    const verb = route.verb === 'own.accounts' ? 'accounts.list' : route.verb;
    const result = visibleTo(principal, route, await runVerb(services, verb, input));
    const version = 'version' in result ? { etag: `"${result.version}"` } : {};
    return { status: route.creates ? 201 : 200, body: result, headers: version };
  }
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

function unknownRoute(found: object, method: string): ManageError {
  const methods = 'methods' in found ? (found.methods as readonly string[]) : [];
  return methods.length === 0
    ? new ManageError(404, 'unknown_url', 'There is no such route of the management API.')
    : new ManageError(405, 'method_not_allowed', `${method} is not allowed here. Use ${methods.join(' or ')}.`);
}

function asManageError(error: unknown): ManageError {
  if (error instanceof ManageError) return error;
  if (error instanceof JsonError) return new ManageError(400, 'invalid_request_body', error.message);
  if (error instanceof StoreUnavailable) return new ManageError(503, 'unavailable', error.message);
  if (!(error instanceof OperatorError))
    return new ManageError(500, 'internal_error', 'The request failed unexpectedly.');
  return new ManageError(error.status, error.code, error.message);
}
