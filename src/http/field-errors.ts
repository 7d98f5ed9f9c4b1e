import { GatewayError } from '../canonical/errors.ts';

/** `must` continues a sentence that begins with the name of the field or parameter, without the full stop. */
export function invalid(param: string, must: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `\`${param}\` ${must}.` });
}

export function missing(param: string, what: string): GatewayError {
  return new GatewayError('missing_required_parameter', { param, message: `\`${param}\` is missing: ${what}.` });
}
