import { GatewayError } from '../../canonical/errors.ts';

export function invalidValue(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', { param, message });
}

/** The commonest message: what stands at a path must be something else. */
export function mustBe(param: string, what: string): GatewayError {
  return invalidValue(param, `\`${param}\` must be ${what}.`);
}

/** Nothing this gateway serves, whichever host there is. */
export function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_feature', { param, message });
}

/** Well said on the caller's wire, but the model's host speaks another one that has no word for it. */
export function untranslatable(param: string, remedy = 'leave it out'): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `\`${param}\` cannot be carried to this model's host, which speaks another wire; ${remedy}.`,
  });
}

/** A second spelling of a name that another reader may take for the first. */
export function disguised(param: string, plain: string): GatewayError {
  return new GatewayError('duplicate_key', {
    param,
    message: `\`${param}\` could be read as \`${plain}\`. Spell it in small letters, or leave it out.`,
  });
}

export function missing(param: string, message: string): GatewayError {
  return new GatewayError('missing_required_parameter', { param, message });
}
