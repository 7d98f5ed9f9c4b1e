import type { HostError, HostErrorKind } from '../../canonical/host-error.ts';
import { tryParseJson } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';

/** What a host said, out of whichever shape it said it in. */
interface Said {
  readonly message: string;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
}

/** A host's error answer, understood; the shapes differ more than what they say. */
export function readHostError(status: number, body: Buffer): HostError {
  const text = body.toString('utf8', 0, LIMITS.hostErrorBytesMax);
  const error = understand(status, describe(tryParseJson(text)));
  // A guard before the host, which reads prompts too, answers with a page for people: it knows nothing of our key.
  return status === 403 && PAGE.test(text) ? { ...error, kind: 'unavailable' } : error;
}

const PAGE = /^\s*</;

/** An error inside a stream: it has no status but the one its wire gives it. */
export function readInBandHostError(status: number, error: unknown): HostError {
  return understand(status, describe({ error }));
}

/** An error where an answer should be; its status, if it has one, is among its members. */
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

/** Hosts wrap an error in a list, an object or nothing; what they call its parts differs less. */
function describe(answer: unknown): Said {
  const body = Array.isArray(answer) ? answer[0] : answer;
  if (!isObject(body)) return saidBy({ message: body });
  if (isObject(body.error)) return saidBy(body.error);
  return saidBy({ ...body, message: body.error ?? body.message ?? body.detail });
}

function saidBy({ message, code, type, param }: Members): Said {
  return { message: words(message), code: shortText(code), type: shortText(type), param: shortText(param) };
}

function words(value: unknown): string {
  return withoutAccountIds(plainWords(value)).slice(0, LIMITS.hostErrorCharactersMax);
}

/** Validators answer with lists of faults; only where each lies and what it is belongs in a sentence. */
function plainWords(value: unknown): string {
  if (typeof value === 'string') return value;
  const detail = isObject(value) ? (value.detail ?? value.message) : value;
  return typeof detail === 'string' ? detail : objectsIn(detail).map(faultWords).join('; ');
}

function faultWords({ loc, msg }: Members): string {
  const place = Array.isArray(loc) ? `${loc.filter(isName).join('.')}: ` : '';
  return place + (typeof msg === 'string' ? msg : 'is wrong');
}

function isName(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

/** Keys and ids of our accounts with hosts, should one stand in a sentence about the caller's request. */
const ACCOUNT_ID = /\b(?:sk|org|proj|wrkspc)[-_](?=[\w*-]*[\d*])[\w*-]{6,}/g;

function withoutAccountIds(text: string): string {
  return text.replace(ACCOUNT_ID, '***');
}

function shortText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return withoutAccountIds(value).slice(0, LIMITS.hostErrorCodeCharactersMax);
}

function understand(status: number, said: Said): HostError {
  const { message, code, param } = said;
  return { kind: kindOf(status, said), status, message, code, param };
}

/** Over-window has no common code among hosts, so it is known by its words. */
const OVER_WINDOW =
  /context[_ ](?:length|window|limit)|too_many_prompt_tokens|(?:prompt|input) is too long|maximum prompt length|(?:input|prompt) tokens? (?:count )?(?:\([^)]*\) )?exceeds?/i;
/** Some hosts answer 400 for a key they do not know or an account that cannot pay: that is ours to mend. */
const OUR_ACCOUNT =
  /api[ _-]?key|unauthori[sz]ed|authenticat|subscription key|credit balance|billing|insufficient[ _](?:quota|balance|funds)|your (?:account|organi[sz]ation|plan)/i;
/** A request may be too large for the minute, not for the model. */
const RATE = /rate[_ ]?limit|tokens per minute|requests per minute|too many requests/i;

/** Some hosts answer 403 for what a prompt says; that is no fault of our key. */
const OF_CONTENT = /moderat|flagged|content[ _-]?(?:policy|filter|management)/i;

/** Some answer 404 for what a request names besides its model. Only how it begins is read: the rest quotes the caller. */
const OF_ITEM = /^(?:the |previous )?(?:item|response|file|image|conversation|container|document)s?\b/i;

/** What stands in quotes may be the caller's words, and they must not pass for the host's; from the first to the last. */
const QUOTED = /(?<![a-z])["'`].*["'`](?![a-z])/gis;

/** What the prompt stands in, on one wire or another; an error about any other field is about that field. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['messages', 'input', 'prompt', 'state']);

function kindOf(status: number, { message, code, type, param }: Said): HostErrorKind {
  const text = `${code ?? ''} ${type ?? ''} ${message}`;
  const isAboutField = param !== null && !PROMPT_FIELDS.has(param);
  if (status === 403 && OF_CONTENT.test(text)) return 'request';
  if (status === 404 && code !== 'model_not_found' && OF_ITEM.test(message)) return 'request';
  if (status === 401 || status === 402 || status === 403 || status === 404) return 'credentials';
  if (status !== 400 && status !== 413 && status !== 422 && status !== 429) return 'unavailable';
  if (OVER_WINDOW.test(text) && !isAboutField) return 'over_window';
  if (status === 429 || RATE.test(text)) return 'rate';
  return OUR_ACCOUNT.test(text.replace(QUOTED, '')) && !isAboutField ? 'credentials' : 'request';
}
