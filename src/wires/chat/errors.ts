import { errorEnvelope, type GatewayError } from '../../canonical/errors.ts';
import { tryParseJson } from '../../kit/json.ts';
import { LIMITS } from '../../limits.ts';
import type { HostError, HostErrorKind, WrittenError } from '../wire.ts';
import { isObject } from './fields.ts';

export function writeError(error: GatewayError): WrittenError {
  return { status: error.status, body: JSON.stringify(errorEnvelope(error)) };
}

export function writeStreamError(error: GatewayError): string {
  return `data: ${JSON.stringify(errorEnvelope(error))}\n\n`;
}

/** Over-window has no common code among hosts, so it is known by its words. */
const OVER_WINDOW =
  /context_length_exceeded|maximum context length|context window|prompt is too long|too_many_prompt_tokens|input is too long|exceeds? the (model's )?(maximum|context)/i;
/** Some hosts answer 400 for a key they do not know. */
const BAD_KEY = /api[ _-]?key|unauthori[sz]ed|authentication/i;

export function readError(status: number, body: Buffer): HostError {
  const text = body.subarray(0, LIMITS.hostErrorBytesMax).toString('utf8');
  return understand(status, describe(tryParseJson(text)));
}

/** An error object inside a stream; its status, if it has one, is among its members. */
export function readStreamError(error: unknown): HostError {
  const described = describe({ error });
  const members = isObject(error) ? error : {};
  const status = [members.status_code, members.status, members.code].find(isHttpStatus) ?? 500;
  return understand(status, described);
}

interface Described {
  readonly message: string;
  readonly code: string | null;
  readonly param: string | null;
}

/** The many shapes of a host's error body, down to a bare string. */
function describe(body: unknown): Described {
  if (!isObject(body)) return { message: '', code: null, param: null };
  const error = body.error;
  if (isObject(error)) {
    return { message: words(error.message), code: codeOf(error.code), param: textOrNull(error.param) };
  }
  const message = words(error ?? body.detail ?? body.message);
  return { message, code: codeOf(body.code), param: null };
}

function understand(status: number, { message, code, param }: Described): HostError {
  return { kind: kindOf(status, message, code), status, message, code, param };
}

function kindOf(status: number, message: string, code: string | null): HostErrorKind {
  if ([400, 413, 422, 429].includes(status) && OVER_WINDOW.test(`${code ?? ''} ${message}`)) return 'over_window';
  if (status === 429) return 'rate';
  if (status === 401 || status === 402 || status === 403 || status === 404) return 'credentials';
  if (status === 400 && BAD_KEY.test(`${code ?? ''} ${message}`)) return 'credentials';
  if (status === 400 || status === 413 || status === 422) return 'request';
  return 'unavailable';
}

function isHttpStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599;
}

function words(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  return text.slice(0, LIMITS.hostErrorCharactersMax);
}

function codeOf(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, 100) : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, 200) : null;
}
