import { GatewayError } from '../canonical/errors.ts';
import type { KeyRow } from '../store/store.ts';
import { authenticatePage, KEY_CHOICE, type PageGate } from './authenticate-page.ts';
import { looksLikeKey } from './keys.ts';
import type { PageRequest } from './own-page.ts';

/** Who pays for a request. Without a key only in local mode. */
export interface Caller {
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly key: KeyRow | null;
}

export interface Gate {
  readonly directory: { find(secret: string): KeyRow | null | Promise<KeyRow | null> };
  /** The account of callers without a key; null if every caller needs one. */
  readonly localAccountId: bigint | null;
  /** For calls from our own page, which names a key instead of sending its secret; null if no page is served. */
  readonly page: PageGate | null;
}

export interface CallerRequest extends PageRequest {
  /** In pairs. Only these show a header that was sent twice. */
  readonly rawHeaders: readonly string[];
}

type Answer = Caller | GatewayError;

/** The only authentication of calls. Returns refusals; throws only StoreUnavailable. */
export function authenticate(request: CallerRequest, gate: Gate): Answer | Promise<Answer> {
  const credentials = readCredentials(request.rawHeaders);
  if (gate.localAccountId !== null) return authenticateLocal(request, credentials, gate.localAccountId, gate);
  if (credentials.length === 0 && request.headers[KEY_CHOICE] !== undefined) return callFromPage(request, gate);
  const secret = theOneSecret(credentials);
  return secret === null ? invalidKey() : whenFound(gate.directory.find(secret));
}

/**
 * Local mode. Anything that looks like a gateway key must be valid, or revoking a key would lift its cap. Keys of other
 * services, which clients often send, are ignored.
 */
function authenticateLocal(
  request: CallerRequest,
  credentials: readonly Credential[],
  accountId: bigint,
  gate: Gate,
): Answer | Promise<Answer> {
  const local: Caller = { accountId, keyId: null, key: null };
  const secrets = new Set(
    credentials.map(({ secret }) => secret).filter((secret) => secret !== null && looksLikeKey(secret)),
  );
  if (secrets.size > 1) return invalidKey();
  const [secret] = secrets;
  if (secret != null) return whenFound(gate.directory.find(secret));
  return request.headers[KEY_CHOICE] === undefined ? local : callFromPage(request, gate);
}

async function callFromPage(request: CallerRequest, { page }: Gate): Promise<Answer> {
  const found = page === null ? invalidKey() : await authenticatePage(request, page);
  return found instanceof GatewayError ? found : callerOf(found);
}

function whenFound(found: KeyRow | null | Promise<KeyRow | null>): Answer | Promise<Answer> {
  const answer = (key: KeyRow | null) => (key === null ? invalidKey() : callerOf(key));
  return found instanceof Promise ? found.then(answer) : answer(found);
}

function isDisabled({ disabledMs, personDisabledMs }: KeyRow): boolean {
  return disabledMs !== null || personDisabledMs !== null;
}

function callerOf(key: KeyRow): Answer {
  return isDisabled(key) ? disabledKey() : { accountId: key.accountId, keyId: key.id, key };
}

/** A client library tells a wrong key from a bad request by these words of the vendor, because both have the same type. */
const WRONG_KEY = 'Incorrect API key provided';

/** A caller that may use the key may learn that it is disabled, instead of searching for a mistake of its own. */
function disabledKey(): GatewayError {
  return new GatewayError('invalid_api_key', {
    message: `${WRONG_KEY}: it is disabled. Ask the owner of its account to enable it, or use another key.`,
  });
}

/** The same error for every other reason, so that it reveals nothing about keys. */
export function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', {
    message: `${WRONG_KEY}: it is not valid, or none was sent. Send one gateway key as "Authorization: Bearer <key>" or in x-api-key.`,
  });
}

interface Credential {
  readonly carrier: string;
  /** Null if the header does not contain a credential. */
  readonly secret: string | null;
}

const CARRIERS = ['authorization', 'x-api-key', 'api-key'];
/** All have different lengths, so most headers are skipped by their length alone. */
const CARRIER_OF_LENGTH: readonly (string | undefined)[] = Array.from({ length: 14 }, (_, length) =>
  CARRIERS.find((carrier) => carrier.length === length),
);

function readCredentials(rawHeaders: readonly string[]): Credential[] {
  const credentials: Credential[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const carrier = CARRIER_OF_LENGTH[name.length];
    if (carrier === undefined || name.toLowerCase() !== carrier) continue;
    credentials.push({ carrier, secret: readSecret(carrier, rawHeaders[at + 1]!.trim()) });
  }
  return credentials;
}

function readSecret(carrier: string, value: string): string | null {
  if (carrier !== 'authorization') return value === '' ? null : value;
  return /^bearer +(\S+)$/i.exec(value)?.[1] ?? null;
}

/** The same key in several headers is one key. A header sent twice, or two different keys, are invalid. */
function theOneSecret(credentials: readonly Credential[]): string | null {
  const [first] = credentials;
  if (first === undefined || first.secret === null) return null;
  if (credentials.length === 1) return first.secret;
  if (credentials.some(({ secret }) => secret !== first.secret)) return null;
  return new Set(credentials.map(({ carrier }) => carrier)).size === credentials.length ? first.secret : null;
}
