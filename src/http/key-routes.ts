import { GatewayError } from '../canonical/errors.ts';
import { unknownName } from '../canonical/unknown-name.ts';
import type { Custody } from '../custody/custody.ts';
import { readBody } from '../gateway/read-call.ts';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import { providerKeyView } from '../operator/provider-keys.ts';
import { type AuditTerms, auditOfCaller } from './caller-audit.ts';
import { ok } from './plain-response.ts';
import { routesOver } from './route-list.ts';
import type { PlainRequest, PlainResponse, Route } from './routes.ts';

interface KeyRouteServices extends AuditTerms {
  readonly custody: Custody;
}

/** Routes for callers' own provider keys. A stored key is never returned. */
export function keyRoutes(services: KeyRouteServices): Route[] {
  const route = routesOver(services);
  const permission = 'provider_keys';
  return [
    route('GET', '/keys', listKeys),
    route('GET', '/keys/*', showKey),
    route('PUT', '/keys/*', putKey, { permission }),
    route('DELETE', '/keys/*', deleteKey, { permission }),
  ];
}

async function listKeys({ custody }: KeyRouteServices, { caller }: PlainRequest): Promise<PlainResponse> {
  const keys = await custody.list(caller.accountId);
  return ok({ object: 'list', data: keys.map(providerKeyView) });
}

async function showKey({ custody }: KeyRouteServices, { caller, param }: PlainRequest): Promise<PlainResponse> {
  return ok(providerKeyView(await custody.find(caller.accountId, param)));
}

async function putKey(services: KeyRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param, body } = request;
  const { key, baseUrl } = readKeyBody(body);
  const audit = auditOfCaller(services, request);
  const stored = await services.custody.put(caller.accountId, param, key, baseUrl, (row) =>
    audit('provider_key.put', param, { base_url: row.baseUrl, last_four: row.lastFour }),
  );
  return ok(providerKeyView(stored));
}

async function deleteKey(services: KeyRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { caller, param } = request;
  const audit = auditOfCaller(services, request);
  await services.custody.remove(caller.accountId, param, audit('provider_key.remove', param, null));
  return ok({ object: 'provider_key', provider: param, status: 'removed', deleted: true });
}

/** Error messages never repeat the input: it may be a key in the wrong field. */
function readKeyBody(body: Buffer): { key: Secret; baseUrl: string } {
  const { value } = readBody(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `api_key` and `base_url`.',
    });
  }
  const fields = value as Record<string, unknown>;
  refuseOtherFields(fields);
  const key = requireText(fields, 'api_key', LIMITS.providerKeyCharsMax);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new GatewayError('invalid_value', {
      param: 'api_key',
      message: '`api_key` must be the key alone: no spaces, no line breaks, nothing beyond ASCII.',
    });
  }
  return { key: new Secret(key), baseUrl: requireText(fields, 'base_url', LIMITS.urlCharsMax) };
}

function refuseOtherFields(fields: Record<string, unknown>): void {
  if ('deployments' in fields) {
    throw new GatewayError('unsupported_parameter', {
      param: 'deployments',
      message: "`deployments` is retired: names are not stored. Leave it out, and send a deployment's name as `model`.",
    });
  }
  const unknownField = Object.keys(fields).find((name) => name !== 'api_key' && name !== 'base_url');
  if (unknownField !== undefined) throw unknownName(unknownField, 'Send only `api_key` and `base_url`.');
}

function requireText(fields: Record<string, unknown>, param: string, charsMax: number): string {
  const value = fields[param];
  if (value === undefined || value === null || value === '') {
    throw new GatewayError('missing_required_parameter', { param, message: `\`${param}\` is missing.` });
  }
  if (typeof value === 'string' && value.length <= charsMax) return value;
  throw new GatewayError('invalid_value', {
    param,
    message: `\`${param}\` must be a string of at most ${charsMax} characters.`,
  });
}
