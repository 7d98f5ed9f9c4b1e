import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Custody } from '../custody/custody.ts';
import { LIMITS } from '../limits.ts';
import type { Call } from './call.ts';
import { mayBeDeployment } from './deployments/deployment.ts';
import { isUsable } from './resolve.ts';

/** A chain is the caller's own sequence of calls, as when it falls back from one model to another. */
export const CHAIN_HEADER = 'x-gateway-chain';
export const FIRST_MODEL_HEADER = 'x-gateway-requested-model';

const CHAIN = /^([A-Za-z0-9_-]+);([1-9]\d*)$/;
const MODEL_ID = /^[\x21-\x7e]+$/;

/** The chain that the call belongs to and its place in it, as sent; null without the header. */
export function readChain(headers: IncomingHttpHeaders): string | null {
  const value = headers[CHAIN_HEADER];
  if (value === undefined) return null;
  const [, id, place] = (typeof value === 'string' && CHAIN.exec(value)) || [];
  const isValid = id !== undefined && id.length <= LIMITS.chainIdCharsMax && Number(place) <= LIMITS.chainCallsMax;
  if (isValid) return value as string;
  throw new GatewayError('invalid_header', {
    param: CHAIN_HEADER,
    message: `\`${CHAIN_HEADER}\` must be an id of up to ${LIMITS.chainIdCharsMax} letters, digits, \`_\` or \`-\`, a semicolon, and the call's place from 1 to ${LIMITS.chainCallsMax}, as plan-7;2.`,
  });
}

/**
 * The model that the first call of the chain asked for, one that the key may use; null without the header. Only the name of
 * what may be the caller's own deployment takes a promise.
 */
export function readFirstModel(
  { headers, caller }: Call,
  catalog: Catalog,
  custody: Pick<Custody, 'has'>,
): string | null | Promise<string> {
  const value = headers[FIRST_MODEL_HEADER];
  if (value === undefined) return null;
  const isText = typeof value === 'string' && value.length <= LIMITS.modelIdCharsMax && MODEL_ID.test(value);
  // Otherwise any text could be written into receipts as the model that was asked for.
  if (!isText) throw notTheFirst();
  if (isUsable(catalog, caller, value)) return value;
  return mayBeDeployment(custody, caller, value).then((mayBe) => {
    if (mayBe) return value;
    throw notTheFirst();
  });
}

function notTheFirst(): GatewayError {
  return new GatewayError('invalid_header', {
    param: FIRST_MODEL_HEADER,
    message: `\`${FIRST_MODEL_HEADER}\` must be the model of the first call of the chain, and one that this key may use. GET /v1/models lists them.`,
  });
}
