import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';
import { CEILING_HEADER } from './read-call.ts';

const MONEY_LIMIT = `send \`${CEILING_HEADER}\` to limit what one call may cost, and give the key a spend cap`;
const NO_PINNING = 'the host is chosen by price and health and cannot be pinned; leave it out';
const ONE_MODEL = 'a request names one model; make fallbacks separate calls';
const NO_SCANNING = 'nothing is moderated or scanned here; call your own before this request';

/** Headers by which other gateways are asked for what is not done here: who sends one would believe that it was. */
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
export const FOREIGN_HEADER_NAMES: readonly string[] = Object.keys(FOREIGN_HEADERS);

/** Refuses by the header's name; an empty one, or one that says no, asks for nothing. */
export function refuseForeignHeaders(headers: IncomingHttpHeaders): void {
  for (const name of FOREIGN_HEADER_NAMES) {
    const value = headers[name];
    if (value === undefined || value === '' || value === 'false') continue;
    throw new GatewayError('unsupported_feature', {
      param: name,
      message: `\`${name}\` is not obeyed here: ${FOREIGN_HEADERS[name]}.`,
    });
  }
}
