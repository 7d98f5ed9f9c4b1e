import type { InboundRequest } from '../http1/server.ts';
import { scanJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { ManageError } from './error.ts';
import { readManageBody } from './request-body.ts';
import type { FoundRoute, ManageRoute } from './routes.ts';

/** Path, query and body together; a member that two of them name differently is refused. */
export async function readInput(
  request: InboundRequest,
  { route, params }: FoundRoute<Pick<ManageRoute, 'method' | 'path' | 'versioned'>>,
  query: URLSearchParams,
): Promise<Record<string, unknown>> {
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
  const input: Record<string, unknown> = hasBody ? { ...(await readBody(request)) } : {};
  const put = (name: string, value: unknown): void => {
    if (Object.hasOwn(input, name) && input[name] !== value)
      throw new ManageError(400, 'invalid_input', `${name} is given twice, with different values.`, { param: name });
    input[name] = value;
  };
  for (const [name, value] of query) put(name, queryValue(name, value));
  for (const [name, value] of Object.entries(params)) put(name, decoded(value));
  const ifMatch = request.headers['if-match'];
  if (ifMatch === undefined || ifMatch === '*' || route.method === 'GET') return input;
  if (!route.versioned) throw notVersioned(route);
  put('version', versionOf(ifMatch));
  return input;
}

/** Somebody who sends it counts on the change being refused if somebody else was faster. */
function notVersioned({ method, path }: Pick<ManageRoute, 'method' | 'path'>): ManageError {
  return new ManageError(400, 'invalid_input', `${method} ${path} does not compare versions. Leave out If-Match.`);
}

/** The size of the body already limits how much there can be in it. */
const BODY_LIMITS = {
  depthMax: LIMITS.jsonDepthMax,
  nodesMax: LIMITS.plainBodyBytesMax,
  keysMax: LIMITS.plainBodyBytesMax,
  numberDigitsMax: LIMITS.jsonNumberDigitsMax,
  keyBytesMax: LIMITS.jsonKeyBytesMax,
} as const;

async function readBody(request: InboundRequest): Promise<Record<string, unknown>> {
  const bytes = await readManageBody(request);
  const body = bytes === null ? {} : scanJson(bytes, BODY_LIMITS).value;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ManageError(400, 'invalid_request_body', 'The body must be a JSON object.');
  return body as Record<string, unknown>;
}

/** Members of queries that the verbs read as numbers, and as true or false. */
const NUMBERS = new Set(['limit', 'since', 'until']);
const SWITCHES = new Set(['proof']);

function queryValue(name: string, value: string): unknown {
  if (NUMBERS.has(name) && /^\d{1,15}$/.test(value)) return Number(value);
  return SWITCHES.has(name) && /^(true|false)$/.test(value) ? value === 'true' : value;
}

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
