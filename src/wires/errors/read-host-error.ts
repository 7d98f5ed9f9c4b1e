import type { HostError, HostErrorKind } from '../../canonical/host-error.ts';
import { tryParseJson } from '../../json/json.ts';
import { cutText } from '../../kit/cut-text.ts';
import { LIMITS } from '../../limits.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';

/** The parts of a host's error, whatever its shape. */
interface ErrorParts {
  readonly message: string;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
}

/** Reads and classifies the error body of a host; null: it did not arrive. */
export function readHostError(status: number, body: Buffer | null): HostError {
  const text = body?.toString('utf8', 0, LIMITS.hostErrorBytesMax) ?? '';
  const error = classify(status, findParts(tryParseJson(text)));
  // The only answer of one vendor to a prompt over the window.
  if (status === 413 && body?.length === 0) return { ...error, kind: 'over_window' };
  // A firewall in front of the host answers with an HTML page. This is not about our key.
  return status === 403 && PAGE.test(text) ? { ...error, kind: 'unavailable' } : error;
}

const PAGE = /^\s*</;

/** Reads an error inside a stream; its wire supplies the status. */
export function readInBandHostError(status: number, error: unknown): HostError {
  return classify(status, findParts({ error }));
}

/** Reads an error that came instead of a response; its status may be one of its members. */
export function readErrorMember(error: unknown): HostError {
  return readInBandHostError(statusIn(error), error);
}

function statusIn(error: unknown): number {
  if (!isObject(error)) return 500;
  for (const status of [error.status_code, error.status, error.code].map(Number)) {
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  if (error.type === 'invalid_request_error') return 400;
  return error.type === 'rate_limit_error' ? 429 : 500;
}

/** Finds the error object: hosts wrap it in a list, in an object or not at all. */
function findParts(answer: unknown): ErrorParts {
  const body = Array.isArray(answer) ? answer[0] : answer;
  if (!isObject(body)) return partsOf({ message: body });
  if (isObject(body.error)) return partsOf(body.error);
  return partsOf({
    ...body,
    type: body.type ?? typeIn(body.detail),
    message: body.error ?? body.message ?? body.detail,
  });
}

/** The only word of a typed-decision host for a prompt over its window. Other hosts may mean the output limit by it. */
const OVER_WINDOW_DETAIL = 'max_tokens_exceeded';
/** The same host has one type for everything else that a request gets wrong. */
const UNKNOWN_MODEL_DETAIL = /^Unknown model: /;

/** The type of such a host's error, in the words of other hosts. */
function typeIn(detail: unknown): unknown {
  if (!isObject(detail)) return null;
  const { error_type: type, message } = detail;
  if (type === OVER_WINDOW_DETAIL) return 'context_length_exceeded';
  return typeof message === 'string' && UNKNOWN_MODEL_DETAIL.test(message) ? 'model_not_found' : type;
}

function partsOf({ message, code, type, param }: Members): ErrorParts {
  return { message: messageText(message), code: shortText(code), type: shortText(type), param: shortText(param) };
}

function messageText(value: unknown): string {
  return shownText(readableText(value), LIMITS.hostErrorCharactersMax);
}

/** Validators send lists of faults; the message gets the place and the text of each. */
function readableText(value: unknown): string {
  if (typeof value === 'string') return value;
  const detail = isObject(value) ? (value.detail ?? value.message) : value;
  return typeof detail === 'string' ? detail : objectsIn(detail).map(faultText).join('; ');
}

function faultText({ loc, msg }: Members): string {
  const place = Array.isArray(loc) ? `${loc.filter(isName).join('.')}: ` : '';
  return place + (typeof msg === 'string' ? msg : 'is invalid');
}

function isName(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

/** Keys and ids of our accounts with hosts, which a host's message may quote. */
const ACCOUNT_ID = /\b(?:sk|org|proj|wrkspc)[-_](?=[\w*-]*[\d*])[\w*-]{6,}/g;

/** Cut first as well: the search takes time quadratic in the length of a text, which may have megabytes. */
function shownText(text: string, charsMax: number): string {
  const shown = cutText(text, 2 * charsMax).replace(ACCOUNT_ID, '***');
  return cutText(shown, charsMax).toWellFormed();
}

function shortText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return shownText(value, LIMITS.hostErrorCodeCharactersMax);
}

function classify(status: number, parts: ErrorParts): HostError {
  const { message, code, param } = parts;
  if (isModelUnknown(parts)) return { kind: 'credentials', status, message, code: 'model_not_found', param };
  return { kind: kindOf(status, parts), status, message, code, param };
}

/** The host does not have the model under the name that we send. Some hosts say so with 400; it is the operator's problem. */
function isModelUnknown({ code, type }: ErrorParts): boolean {
  return MODEL_UNKNOWN.has(code ?? '') || MODEL_UNKNOWN.has(type ?? '');
}

const MODEL_UNKNOWN: ReadonlySet<string> = new Set(['model_not_found', 'invalid_model']);

/** Hosts have no common code for a prompt that exceeds the window, so the message is matched. */
const OVER_WINDOW = new RegExp(
  [
    'context[_ ](?:length|window|limit|size)',
    'too_many_prompt_tokens',
    '(?:prompt|input) is too long',
    'prompt exceeds max length',
    'maximum (?:prompt|model|allowed input) length',
    'range of input length',
    'exceeded model token limit',
    '(?:input|prompt) tokens? (?:count )?(?:of \\d+ |\\([^)]*\\) )?exceeds?',
    '`inputs` (?:tokens \\+|must have less than)',
    'reduce the length of the (?:messages|prompt)',
    'size limit exceeded by \\d+ tokens',
  ].join('|'),
  'i',
);
/** Some hosts send 400 for an unknown key or an unpaid account; that is the operator's problem, not the caller's. */
const OUR_ACCOUNT =
  /api[ _-]?key|unauthori[sz]ed|authenticat|subscription key|credit balance|billing|insufficient[ _](?:quota|balance|funds)|your (?:account|organi[sz]ation|plan)/i;
/** The request exceeds a rate limit, not the model's window. */
const RATE = /rate[_ ]?limit|tokens per minute|requests per minute|too many requests/i;

/** Some hosts send 403 for the content of a prompt; that is not about our key. */
const OF_CONTENT = /moderat|flagged|content[ _-]?(?:policy|filter|management)/i;

/** Some hosts send 404 for an item that the request names. Only the start is matched: the rest may quote the caller. */
const OF_ITEM = /^(?:the |previous )?(?:item|response|file|image|conversation|container|document)s?\b/i;

/** Text in quotes may be the caller's and must not be matched; from the first quote to the last. */
const QUOTED = /(?<![a-z])["'`].*["'`](?![a-z])/gis;

/** Fields that hold the prompt; an error with another `param` is about that field only. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['messages', 'input', 'prompt', 'state']);

function kindOf(status: number, { message, code, type, param }: ErrorParts): HostErrorKind {
  const text = `${code ?? ''} ${type ?? ''} ${message}`;
  const isAboutField = param !== null && !PROMPT_FIELDS.has(param);
  if (status === 403 && OF_CONTENT.test(text)) return 'request';
  if (status === 404 && OF_ITEM.test(message)) return 'request';
  if (status === 401 || status === 402 || status === 403 || status === 404) return 'credentials';
  if (status !== 400 && status !== 413 && status !== 422 && status !== 429) return 'unavailable';
  if (OVER_WINDOW.test(text) && !isAboutField) return 'over_window';
  if (status === 429 || RATE.test(text)) return 'rate';
  return OUR_ACCOUNT.test(text.replace(QUOTED, '')) && !isAboutField ? 'credentials' : 'request';
}
