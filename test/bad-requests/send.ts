import type { IncomingHttpHeaders } from 'node:http';
import { Pool } from 'undici';
import type { BadClass, BadRequest } from './bad-class.ts';

/** The response, and every difference from what the table says. */
export interface Refusal {
  readonly requestId: string;
  readonly complaints: readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const CONNECTIONS = 16;

export function openPool(url: string): Pool {
  return new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
}

export async function send(pool: Pool, request: Omit<BadRequest, 'param'>): Promise<Answer> {
  const { method = 'POST', path = '/v1/chat/completions', body = null } = request;
  const {
    statusCode,
    headers,
    body: answer,
  } = await pool.request({
    method: method as 'POST',
    path,
    headers: headersOf(request),
    // A generator has no length to announce.
    body: request.chunked === true ? [body].values() : body,
  } as Parameters<Pool['request']>[0]);
  return { status: statusCode, headers, text: await answer.text() };
}

/** Names and values in turn, a form in which a header can occur twice. */
function headersOf({ headers = {}, body = null }: Omit<BadRequest, 'param'>): string[] {
  const usual = body === null ? {} : { 'content-type': 'application/json' };
  return Object.entries({ ...usual, ...headers }).flatMap(([name, value]) =>
    (value === null ? [] : [value].flat()).flatMap((one) => [name, one]),
  );
}

const RETRYABLE = [408, 409, 429];

/** Compares an answer with its row of the table; an empty list means that the answer is right. */
export function judge(row: BadClass, request: BadRequest, answer: Answer): Refusal {
  const { status, headers } = answer;
  const requestId = String(headers['x-gateway-request-id']);
  const retry = row.status < 500 && !RETRYABLE.includes(row.status) ? 'false' : undefined;
  const complaints = [
    ...differs('status', status, row.status),
    ...differs('cost header', headers['x-gateway-cost-nanousd'], '0'),
    ...differs('request-id', headers['request-id'], requestId),
    ...differs('x-request-id', headers['x-request-id'], requestId),
    ...differs('x-should-retry', headers['x-should-retry'], retry),
    ...differs('content-type', headers['content-type'], 'application/json; charset=utf-8'),
    ...differs('www-authenticate', headers['www-authenticate'], row.status === 401 ? 'Bearer' : undefined),
    ...(/^req_\w+$/.test(requestId) ? [] : [`request id ${requestId}`]),
    ...(request.method === 'HEAD' ? [] : judgeEnvelope(row, request, answer.text)),
    ...judgeModel(row, request, headers),
  ];
  return { requestId, complaints: complaints.map((complaint) => `${complaint} — ${describe(request)}`) };
}

function judgeEnvelope(row: BadClass, { param }: BadRequest, text: string): string[] {
  const body = parsed(text) as { error?: Record<string, unknown> | null } | undefined;
  const error = body?.error;
  if (error == null) return [`no envelope: ${text.slice(0, 200)}`];
  const named = error.param as string | null;
  const isNamed = typeof param === 'function' ? param(named) : named === param;
  return [
    ...differs('keys', Object.keys(error).join(), 'message,type,code,param'),
    ...differs('code', error.code, row.code),
    ...differs('type', error.type, row.type ?? 'invalid_request_error'),
    ...(typeof error.message === 'string' && error.message.length > 10 ? [] : ['no message']),
    ...(isNamed ? [] : [`param ${JSON.stringify(named)}, not ${JSON.stringify(param) ?? 'as foreseen'}`]),
  ];
}

/** If the body could be read, the answer repeats its model, and the model that it resolved to, unless the model was what was wrong. */
function judgeModel(row: BadClass, { param, model }: BadRequest, headers: IncomingHttpHeaders): string[] {
  if (!row.oneField || param === 'model') return [];
  const effective = String(model).replace(/^.*\//, '');
  return [
    ...differs('requested model', headers['x-gateway-requested-model'], model),
    ...(row.code === 'missing_capability'
      ? differs('effective model', headers['x-gateway-effective-model'], effective)
      : []),
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function differs(what: string, is: unknown, mustBe: unknown): string[] {
  return is === mustBe ? [] : [`${what} ${JSON.stringify(is)}, not ${JSON.stringify(mustBe)}`];
}

function describe({ method = 'POST', path = '', headers = {}, body = null }: BadRequest): string {
  return `${method} ${path.slice(0, 80)} ${JSON.stringify(headers).slice(0, 200)} ${String(body).slice(0, 400)}`;
}
