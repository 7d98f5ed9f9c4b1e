import type { IncomingHttpHeaders } from 'node:http';
import { invalidKey } from '../accounts/authenticate.ts';
import { balanceView, type HangupFacts } from '../canonical/balance-view.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type AllowedIds, messagesModelEntry, messagesModelList, modelEntry, modelList } from '../catalog/entry.ts';
import type { Call } from '../gateway/call.ts';
import type { PricedCatalog } from '../gateway/gateway.ts';
import { resolveModel } from '../gateway/resolve.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { Account, Ledger } from '../ledger/ledger.ts';
import type { UsageServices } from '../operator/usage.ts';
import type { CallerLists } from './caller-lists.ts';
import { ok } from './plain-response.ts';
import type { PlainRequest, PlainResponse, Route } from './routes.ts';
import { reportUsage } from './usage.ts';

interface PlainServices extends UsageServices {
  readonly ledger: Pick<Ledger, 'balance'>;
  readonly lists: CallerLists;
  prices(): PricedCatalog;
  /** The loss allowance of an account; null if it has none. */
  hangups(account: Account): HangupFacts | null;
  /** The messages wire, whose clients read the list of models too, and its check of the version header. */
  readonly messages: { readonly wire: Call['wire']; checkVersion(headers: IncomingHttpHeaders): void };
}

/** Routes that need no host and cost nothing. */
export function plainRoutes(services: PlainServices): Route[] {
  const wireOf = (headers: IncomingHttpHeaders) => (speaksMessages(headers) ? services.messages.wire : null);
  return [
    { method: 'GET', path: '/catalog', access: 'public', answer: () => catalog(services) },
    { method: 'GET', path: '/models', access: 'key', wireOf, answer: (request) => models(services, request) },
    { method: 'GET', path: '/models/*', access: 'key', wireOf, answer: (request) => model(services, request) },
    { method: 'GET', path: '/balance', access: 'key', answer: (request) => balance(services, request) },
    {
      method: 'GET',
      path: '/usage',
      access: 'key',
      answer: async ({ caller, query }) =>
        ok(await services.lists.countRows(caller, () => reportUsage(services, caller, query))),
    },
  ];
}

/** The full list is long and the same for most callers, so it is serialised once per catalog. */
const WHOLE_LISTS = new WeakMap<Catalog, string>();

function wholeList(catalog: Catalog): PlainResponse {
  const body = WHOLE_LISTS.get(catalog) ?? stringifyJson(modelList(catalog));
  WHOLE_LISTS.set(catalog, body);
  return { status: 200, body };
}

function catalog(services: PlainServices): PlainResponse {
  return wholeList(services.prices().catalog);
}

function models(services: PlainServices, request: PlainRequest): PlainResponse {
  const { catalog } = services.prices();
  const allowed = allowedIds(request);
  services.messages.checkVersion(request.headers);
  if (speaksMessages(request.headers)) return ok(messagesModelList(catalog, allowed));
  return allowed === null ? wholeList(catalog) : ok(modelList(catalog, allowed));
}

/** Slashes in an id may arrive escaped or not; the parameter is the same. */
function model(services: PlainServices, request: PlainRequest): PlainResponse {
  services.messages.checkVersion(request.headers);
  const found = resolveModel(services.prices().catalog, request.caller, request.param);
  return ok(speaksMessages(request.headers) ? messagesModelEntry(found) : modelEntry(found));
}

/** Two vendors' clients use the same path. Those of the messages wire send a version header. */
function speaksMessages(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] !== undefined || headers['messages-version'] !== undefined;
}

function allowedIds({ caller }: PlainRequest): AllowedIds {
  const models = caller.key?.models ?? null;
  return models === null ? null : new Set(models);
}

async function balance({ ledger, hangups }: PlainServices, { caller }: PlainRequest): Promise<PlainResponse> {
  const { accountId, key } = caller;
  const found = await ledger.balance(accountId, key);
  if (found === null) throw invalidKey();
  return ok(balanceView({ ...found, hangups: hangups(found.account) }, key));
}
