import { GatewayError } from './errors.ts';

/** Repeats no text that is not a name: it may be a secret in the wrong place. */
export function unknownName(name: string, remedy: string, what = 'A field'): GatewayError {
  const param = /^[\w-]{1,64}$/.test(name) ? name : null;
  const named = param === null ? what : `\`${param}\``;
  return new GatewayError('unsupported_parameter', { param, message: `${named} is unknown. ${remedy}` });
}
