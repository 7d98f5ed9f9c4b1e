import { findAccount } from '../accounts/accounts.ts';
import { authenticateManager, type ManagerTerms } from '../accounts/authenticate-manager.ts';
import { hasRole, type Principal } from '../accounts/principal.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../canonical/id-prefixes.ts';
import { headerLines } from '../http1/headers.ts';
import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { JsonError, parseJson } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import type { Actor } from '../operator/actor.ts';
import { OperatorError } from '../operator/error.ts';
import { type OperatorServices, runVerb } from '../operator/operator.ts';
import { accountView, listView } from '../operator/view.ts';
import { envelopeOf, ManageError } from './error.ts';
import { readManageBody } from './request-body.ts';
import { type FoundRoute, findRoute, type ManageRoute } from './routes.ts';

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
    const body = route.method === 'GET' || route.method === 'DELETE' ? {} : await readBody(request);
    const input = inputOf(found, searchParams, body, request.headers['if-match']);
    return this.#perform(principal, route, input);
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
    const result = visibleTo(principal, verb, await runVerb(services, verb, input));
    const version = 'version' in result ? { etag: `"${result.version}"` } : {};
    return { status: route.method === 'POST' && CREATES.has(verb) ? 201 : 200, body: result, headers: version };
  }
}

const CREATES = new Set(['accounts.create', 'accounts.credit', 'keys.mint', 'people.invite', 'managementkeys.mint']);

/** A stranger to an account learns nothing of it: what they may not see does not exist for them. */
async function authorize(
  principal: Principal,
  { access, scope }: ManageRoute,
  input: Record<string, unknown>,
  services: OperatorServices,
): Promise<void> {
  if (principal.isOperator || access === 'anybody') return;
  if (access === 'operator') throw denied();
  const accountId = await accountOf(scope, input, services);
  if (accountId === null || !principal.roles.has(accountId)) {
    if (input.account === undefined && scope === 'account')
      throw new ManageError(403, 'permission_denied', 'Name an account in which you have a role, with `account`.');
    throw new ManageError(404, 'not_found', 'There is no such account or key.');
  }
  if (!hasRole(principal, accountId, access.role)) throw denied();
  if (scope === 'account' && typeof input.key === 'string' && (await accountOf('key', input, services)) !== accountId)
    throw new ManageError(404, 'not_found', 'There is no such account or key.');
  if (typeof input.person === 'string' && !input.person.includes('@'))
    throw new ManageError(404, 'not_found', 'Name the person by their email address.');
}

async function accountOf(
  scope: ManageRoute['scope'],
  input: Record<string, unknown>,
  { store }: OperatorServices,
): Promise<bigint | null> {
  if (scope === 'key') {
    const id = typeof input.key === 'string' ? parseId(KEY_PREFIX, input.key) : null;
    return id === null ? null : ((await store.findKey(id))?.accountId ?? null);
  }
  return typeof input.account === 'string' ? ((await findAccount(store, input.account))?.id ?? null) : null;
}

/** Which hosts serve a model is the operator's business. */
function visibleTo({ isOperator }: Principal, verb: string, result: object): object {
  if (isOperator || verb !== 'models.list' || !('data' in result)) return result;
  const models = (result.data as readonly Record<string, unknown>[]).map(({ hosts: _, ...model }) => model);
  return { ...result, data: models };
}

function denied(): ManageError {
  return new ManageError(403, 'permission_denied', 'Your role does not allow this.');
}

function meView({ actor, isOperator, roles, isReadOnly }: Principal): object {
  return {
    object: 'me',
    kind: actor.kind,
    name: actor.name,
    operator: isOperator,
    read_only: isReadOnly,
    roles: [...roles].map(([accountId, role]) => ({ account: formatId(ACCOUNT_PREFIX, accountId), role })),
  };
}

async function ownAccounts({ roles }: Principal, { store }: OperatorServices): Promise<object> {
  const accounts = await Promise.all([...roles.keys()].map((id) => store.findAccount(id)));
  const found = accounts.filter((account) => account !== null);
  return listView(found.map(accountView), found.length + 1);
}

async function readBody(request: InboundRequest): Promise<Record<string, unknown>> {
  const text = await readManageBody(request);
  const body = text === '' ? {} : parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ManageError(400, 'invalid_request_body', 'The body must be a JSON object.');
  return body as Record<string, unknown>;
}

/** Path, query and body together; a member that two of them name differently is refused. */
function inputOf(
  { route, params }: FoundRoute,
  query: URLSearchParams,
  body: Record<string, unknown>,
  ifMatch: string | undefined,
): Record<string, unknown> {
  const input: Record<string, unknown> = { ...body };
  const put = (name: string, value: unknown): void => {
    if (Object.hasOwn(input, name) && input[name] !== value)
      throw new ManageError(400, 'invalid_input', `${name} is given twice, with different values.`);
    input[name] = value;
  };
  for (const [name, value] of query) put(name, NUMBERS.has(name) && /^\d{1,15}$/.test(value) ? Number(value) : value);
  for (const [name, value] of Object.entries(params)) put(name, decoded(value));
  if (route.versioned && ifMatch !== undefined && ifMatch !== '*') put('version', versionOf(ifMatch));
  return input;
}

/** Members of queries that the verbs read as numbers. */
const NUMBERS = new Set(['limit', 'since', 'until']);

function versionOf(ifMatch: string): number {
  const version = /^"(\d{1,15})"$/.exec(ifMatch)?.[1];
  if (version === undefined)
    throw new ManageError(400, 'invalid_input', 'If-Match must be the version in quotes, as the ETag gave it.');
  return Number(version);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ManageError(400, 'invalid_input', 'The path has an invalid percent escape.');
  }
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
