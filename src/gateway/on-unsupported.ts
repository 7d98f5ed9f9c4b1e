import { GatewayError } from '../canonical/errors.ts';
import type { Call } from './call.ts';

export const ON_UNSUPPORTED_HEADER = 'x-gateway-on-unsupported';

/**
 * Whether fields that cannot be translated are dropped, and an output limit above the model's is lowered, instead of
 * refused. The header overrides the key's default.
 */
export function allowsAdjusting({ headers, caller }: Call): boolean {
  const value = headers[ON_UNSUPPORTED_HEADER] ?? caller.key?.onUnsupported;
  if (value === undefined || value === 'refuse') return false;
  if (value === 'drop') return true;
  throw new GatewayError('invalid_header', {
    param: ON_UNSUPPORTED_HEADER,
    message: `\`${ON_UNSUPPORTED_HEADER}\` must be "drop" or "refuse". Send one of them, or leave it out.`,
  });
}
