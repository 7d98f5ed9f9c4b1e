import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';
import { LIMITS } from '../limits.ts';
import { CEILING_HEADER } from './read-call.ts';

const MONEY_LIMIT = `send \`${CEILING_HEADER}\` to limit what one call may cost, and give the key a spend cap`;
const NO_PINNING = 'the host is chosen by price and health and cannot be pinned; leave it out';
const ONE_MODEL = 'a request names one model; send fallbacks as separate requests';
const NO_SCANNING = 'nothing is moderated or scanned; call your own service before this request';

/**
 * Headers of other gateways for features that we lack. Ignoring one would let the sender believe that it had worked.
 */
const FOREIGN_HEADERS: ReadonlyMap<string, string> = new Map([
  ['helicone-ratelimit-policy', MONEY_LIMIT],
  ['helicone-moderations-enabled', NO_SCANNING],
  ['helicone-llm-security-enabled', NO_SCANNING],
  ['helicone-llm-security-advanced', NO_SCANNING],
  ['helicone-fallbacks', ONE_MODEL],
  ['helicone-target-url', NO_PINNING],
  ['helicone-target-provider', NO_PINNING],
  ['x-portkey-config', NO_PINNING],
  ['x-portkey-provider', NO_PINNING],
  ['x-portkey-virtual-key', NO_PINNING],
  ['x-portkey-custom-host', NO_PINNING],
]);

export function isForeignHeader(name: string): boolean {
  return FOREIGN_HEADERS.has(name);
}

/** Refuses the request by the first such header's name. An empty one, or `false`, is allowed, except for a ceiling. */
export function refuseForeignHeaders(headers: IncomingHttpHeaders): void {
  for (const name in headers) {
    if (isOtherCeiling(name)) throw otherCeiling(name);
    const why = FOREIGN_HEADERS.get(name);
    if (why !== undefined && isSet(headers[name])) throw foreignHeader(name, why);
  }
}

function isSet(value: string | string[] | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false';
}

function foreignHeader(param: string, why: string): GatewayError {
  return new GatewayError('unsupported_feature', { param, message: `\`${param}\` is not supported: ${why}.` });
}

/** A ceiling under a name that is not read would limit nothing. */
export function refuseOtherCeilings(headers: IncomingHttpHeaders): void {
  for (const name in headers) if (isOtherCeiling(name)) throw otherCeiling(name);
}

const CEILING_PREFIX = 'x-gateway-max-';

function isOtherCeiling(name: string): boolean {
  return name.startsWith(CEILING_PREFIX) && name !== CEILING_HEADER;
}

function otherCeiling(name: string): GatewayError {
  const param = name.slice(0, LIMITS.nameCharsMax);
  return new GatewayError('invalid_header', {
    param,
    message: `\`${param}\` is unknown and would limit nothing. Send \`${CEILING_HEADER}\`, a whole number of nanodollars.`,
  });
}
