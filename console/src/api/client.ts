import type { Routes } from './generated/routes.ts';
import { parseApiJson, stringifyApiJson } from './json.ts';
import { serverStatus } from './server-status.ts';
import { authorizationHeader } from './session.ts';

export type RouteName = keyof Routes;
export type Input<Route extends RouteName> = Routes[Route]['input'];
export type Output<Route extends RouteName> = Routes[Route]['output'];
/** A row of a list that a route returns. */
export type Row<Route extends RouteName> = Output<Route> extends { data: readonly (infer Each)[] } ? Each : never;

export const API = '/manage/v1';

const BROKEN_OFF = 'broken_off';
/** For a response that is not the gateway's own. */
const UNKNOWN_CODE = 'unknown';
/** For a change whose response is lost: it may have been made, and repeating it could make a second key. */
const OUTCOME_UNKNOWN = 'It is not known whether the change was made. Look at the list before you repeat it.';
/** For whoever signs in again and comes back to the form. */
const SESSION_ENDED = 'Your session had ended, and nothing was changed. Try again.';
/** The gateway's own words are for programs, which send the version themselves. */
const CHANGED_MEANWHILE =
  'Somebody else changed this in the meantime, so nothing was saved. Look at it as it is now before you repeat the change.';
/** They change nothing that repeating them would do twice. */
const REPEATABLE: readonly RouteName[] = [
  'POST /invitations/read',
  'POST /sign-in',
  'POST /sign-out',
  'POST /system/verify',
];

/** A refusal of the server, or a server that cannot be reached (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, code: string, message: string, requestId: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }

  get isAway(): boolean {
    return this.status === 0 || (this.status >= 502 && this.status <= 504);
  }

  /** Whether the same read may succeed a moment later: the gateway was only busy, or its response did not arrive whole. */
  get mayPass(): boolean {
    return this.status >= 500 || this.status === 429 || this.code === BROKEN_OFF;
  }
}

interface CallOptions {
  readonly signal?: AbortSignal;
  /** The version that a change was made to: the server refuses it if there is a newer one. */
  readonly version?: number;
}

/** Calls a route of the management API. Members of the input that stand in the path go there, others into query or body. */
export async function call<Route extends RouteName>(
  route: Route,
  input: Input<Route>,
  options: CallOptions = {},
): Promise<Output<Route>> {
  const [method, path, rest] = placeInput(route, input as Readonly<Record<string, unknown>>);
  const isRead = method === 'GET';
  const isRepeatable = isRead || REPEATABLE.includes(route);
  const response = await reach(isRead ? path + queryOf(rest) : path, {
    method,
    headers: {
      ...authorizationHeader(),
      ...(isRead ? {} : { 'content-type': 'application/json' }),
      ...(options.version === undefined ? {} : { 'if-match': `"${options.version}"` }),
    },
    ...(isRead ? {} : { body: stringifyApiJson(rest) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }).catch((error: unknown) => {
    if (isRepeatable || !(error instanceof ApiError)) throw error;
    throw new ApiError(error.status, error.code, `The gateway cannot be reached. ${OUTCOME_UNKNOWN}`, null);
  });
  const text = await response.text().catch((error: unknown) => brokenOff(error, response, isRepeatable));
  if (!response.ok) throw isRepeatable ? refusalOf(response, text) : refusalOfChange(response, text);
  return parseApiJson(text) as Output<Route>;
}

/** The address of a list as a file, with the same filters. */
export function exportUrl(route: RouteName, input: Readonly<Record<string, unknown>>, format: 'csv' | 'jsonl'): string {
  const [, path, rest] = placeInput(route, input);
  return API + path + queryOf({ ...rest, format });
}

function placeInput(
  route: RouteName,
  input: Readonly<Record<string, unknown>>,
): [method: string, path: string, rest: Record<string, unknown>] {
  const [method = '', pattern = ''] = route.split(' ');
  const rest: Record<string, unknown> = { ...input };
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  return [method, path, rest];
}

function queryOf(input: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(input).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const query = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return query === '' ? '' : `?${query}`;
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  const response = await fetchGateway(API + path, init);
  serverStatus.reached(response.status < 502 || response.status > 504);
  return response;
}

/** Any route of the gateway. A browser's own words for one that cannot be reached say neither what nor why. */
export function fetchGateway(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init }).catch(connectionFailed);
}

/** This must not look like a gateway that is away, which the page would ask again without end: a proxy may always cut one route's responses. */
function brokenOff(error: unknown, response: Response, isRepeatable: boolean): string {
  if (isAbort(error)) throw error;
  // The status of a refusal says enough without its body.
  if (!response.ok) return '';
  const message = `The response of the gateway broke off. ${isRepeatable ? 'Try again.' : OUTCOME_UNKNOWN}`;
  throw new ApiError(response.status, BROKEN_OFF, message, response.headers.get('x-gateway-request-id'));
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** For a request that was not answered. */
function connectionFailed(error: unknown): never {
  if (isAbort(error)) throw error;
  serverStatus.reached(false);
  throw new ApiError(0, 'unreachable', 'The gateway cannot be reached. Check that it is running.', null);
}

/** Says whether the change was made. A proxy answers for a gateway that takes too long, which may make the change all the same. */
function refusalOfChange(response: Response, text: string): ApiError {
  const refusal = refusalOf(response, text);
  if (refusal.code === 'unauthenticated')
    return new ApiError(refusal.status, refusal.code, SESSION_ENDED, refusal.requestId);
  if (refusal.code === 'version_conflict')
    return new ApiError(refusal.status, refusal.code, CHANGED_MEANWHILE, refusal.requestId);
  if (refusal.code !== UNKNOWN_CODE || response.status < 500) return refusal;
  return new ApiError(refusal.status, refusal.code, `${refusal.message} ${OUTCOME_UNKNOWN}`, refusal.requestId);
}

export function refusalOf(response: Response, text: string): ApiError {
  const requestId = response.headers.get('x-gateway-request-id');
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code: string | null; type: string } };
    return new ApiError(response.status, error.code ?? error.type, error.message, requestId);
  } catch {
    return new ApiError(
      response.status,
      UNKNOWN_CODE,
      `The server answered with status ${response.status}.`,
      requestId,
    );
  }
}
