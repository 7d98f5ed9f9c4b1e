import { GatewayError } from '../canonical/errors.ts';
import type { VettedUrl } from '../egress/caller-url.ts';
import { EgressFailure, ForbiddenUrl } from '../egress/forbidden-url.ts';
import type { GuardedEgress, GuardedResponse } from '../egress/guarded-egress.ts';
import { tryParseJson } from '../json/json.ts';
import { weighJson } from '../json/weight.ts';
import { withoutByteOrderMark } from '../kit/byte-order-mark.ts';
import type { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import type { ProviderRow } from './providers.ts';

/** A resource's checked URL, and the spelling of it that is stored. */
export interface ResourceUrl {
  readonly baseUrl: string;
  readonly url: VettedUrl;
}

/** Checks a URL by the rules of the address guard and of the provider. Throws an error that says what is wrong. */
export async function readResourceUrl(
  egress: Pick<GuardedEgress, 'vet' | 'recall'>,
  provider: ProviderRow,
  text: string,
): Promise<ResourceUrl> {
  try {
    // A trailing slash is accepted, but not stored.
    const { origin, path } = egress.recall(text.replace(/\/$/, ''));
    if (!path.endsWith(provider.basePathEnd) || path.includes('?')) throw wrongPath(provider);
    const baseUrl = origin + path;
    return { baseUrl, url: await egress.vet(baseUrl) };
  } catch (error) {
    throw error instanceof GatewayError ? error : noAnswer(provider, error);
  }
}

/** Sends a free request with the key. Throws unless the provider accepts it. */
export async function verifyKey(
  egress: Pick<GuardedEgress, 'request'>,
  provider: ProviderRow,
  url: VettedUrl,
  key: Secret,
): Promise<void> {
  const headers = { [provider.keyHeader]: key.reveal(), accept: 'application/json', 'user-agent': 'tollgate' };
  const path = url.path + provider.verifyPath;
  let answer: GuardedResponse;
  try {
    answer = await egress.request(url, { method: 'GET', path, headers }, { timeoutMs: LIMITS.keyVerificationMs });
  } catch (error) {
    throw noAnswer(provider, error);
  }
  const fault = faultOf(provider, answer);
  if (fault !== null) throw fault;
}

function faultOf(provider: ProviderRow, { status, body }: GuardedResponse): GatewayError | null {
  const asked = `GET ${provider.verifyPath}`;
  if (status === 401 || status === 403) {
    return notStored(provider, `refused the key: it answered ${asked} with ${status}. Check \`api_key\`.`, 'api_key');
  }
  if (status === 404) {
    return notStored(provider, `has nothing at this URL: it answered ${asked} with 404. Check \`base_url\`.`);
  }
  if (status < 200 || status >= 300) {
    return notStored(provider, `answered ${asked} with ${status}, so the key could not be verified. Try again.`);
  }
  if (isObjectOrList(withoutByteOrderMark(body))) return null;
  return notStored(provider, `answered ${asked} with something other than a list of models. Check \`base_url\`.`);
}

/** Callers choose the host, so a list that takes long to parse is judged by how it begins. */
function isObjectOrList(body: Buffer): boolean {
  const workMax = LIMITS.keyVerificationWorkMax;
  if (weighJson(body, workMax) > workMax) return /^\s*[[{]/.test(body.toString('latin1', 0, 100));
  const list = tryParseJson(body.toString());
  return typeof list === 'object' && list !== null;
}

/** After a time-out nothing is known about the key, so the message says so. */
function noAnswer(provider: ProviderRow, error: unknown): GatewayError {
  if (error instanceof EgressFailure && error.fault === 'timeout') {
    return notStored(
      provider,
      'did not answer in time, so the check is inconclusive: the key may be valid. Try again.',
    );
  }
  return notStored(provider, describeFailure(error));
}

/** Why a resource could not be called. Any other error is a bug in this program and is thrown on. */
export function describeFailure(error: unknown): string {
  if (error instanceof ForbiddenUrl) return `cannot be called at this URL: ${error.message}`;
  if (error instanceof EgressFailure) return `could not be called: ${error.message}`;
  throw error;
}

function wrongPath(provider: ProviderRow): GatewayError {
  return notStored(provider, `has no resource at this URL: \`base_url\` must end in ${provider.basePathEnd}.`);
}

function notStored(provider: ProviderRow, what: string, param = 'base_url'): GatewayError {
  return providerFailed(provider, `${what} Nothing was stored.`, param);
}

/** An error about a key that is stored or being stored. It names the provider. */
export function providerFailed({ slug }: ProviderRow, what: string, param: string | null = null): GatewayError {
  return new GatewayError('provider_key_failed', { message: `The provider "${slug}" ${what}`, param });
}
