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
const FOREIGN_HEADERS: Readonly<Record<string, string>> = {
  'helicone-ratelimit-policy': MONEY_LIMIT,
  'helicone-moderations-enabled': NO_SCANNING,
  'helicone-llm-security-enabled': NO_SCANNING,
  'helicone-llm-security-advanced': NO_SCANNING,
  'helicone-fallbacks': ONE_MODEL,
  'helicone-target-url': NO_PINNING,
  'helicone-target-provider': NO_PINNING,
  'x-portkey-config': NO_PINNING,
  'x-portkey-provider': NO_PINNING,
  'x-portkey-virtual-key': NO_PINNING,
  'x-portkey-custom-host': NO_PINNING,
};
const FOREIGN_HEADER_NAMES: readonly string[] = Object.keys(FOREIGN_HEADERS);

export function isForeignHeader(name: string): boolean {
  return Object.hasOwn(FOREIGN_HEADERS, name);
}

/** Refuses the request by the header's name. An empty header, or `false`, is allowed, except for a ceiling. */
export function refuseForeignHeaders(headers: IncomingHttpHeaders): void {
  refuseOtherCeilings(headers);
  for (const name of FOREIGN_HEADER_NAMES) {
    const value = headers[name];
    if (value === undefined || value === '' || value === 'false') continue;
    throw new GatewayError('unsupported_feature', {
      param: name,
      message: `\`${name}\` is not supported: ${FOREIGN_HEADERS[name]}.`,
    });
  }
}

const CEILING_PREFIX = 'x-gateway-max-';

/** A ceiling under a name that is not read would limit nothing. */
export function refuseOtherCeilings(headers: IncomingHttpHeaders): void {
  for (const name in headers) {
    if (!name.startsWith(CEILING_PREFIX) || name === CEILING_HEADER) continue;
    const param = name.slice(0, LIMITS.nameCharsMax);
    throw new GatewayError('invalid_header', {
      param,
      message: `\`${param}\` is unknown and would limit nothing. Send \`${CEILING_HEADER}\`, a whole number of nanodollars.`,
    });
  }
}
