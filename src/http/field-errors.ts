import { GatewayError } from '../canonical/errors.ts';

/** `must` goes on after the name of the field or parameter, without a full stop. */
export function invalid(param: string, must: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `\`${param}\` ${must}.` });
}

export function missing(param: string, what: string): GatewayError {
  return new GatewayError('missing_required_parameter', { param, message: `\`${param}\` is missing: ${what}.` });
}

/** Repeats no text that is not a name: it may be a secret in the wrong place. */
export function unknownName(name: string, remedy: string, what = 'A field'): GatewayError {
  const param = /^[\w-]{1,64}$/.test(name) ? name : null;
  const named = param === null ? what : `\`${param}\``;
  return new GatewayError('unsupported_parameter', { param, message: `${named} is unknown. ${remedy}` });
}
