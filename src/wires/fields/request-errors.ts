import { GatewayError } from '../../canonical/errors.ts';

export function invalidValue(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', { param, message });
}

/** The most common error: a value has the wrong type or range. */
export function mustBe(param: string, what: string): GatewayError {
  return invalidValue(param, `\`${param}\` must be ${what}.`);
}

/** A feature that this gateway does not serve, whatever the host. */
export function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_feature', { param, message });
}

/** Valid on the caller's wire, but the model's host speaks another wire that lacks it. */
export function untranslatable(param: string, remedy = 'leave it out'): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `\`${param}\` is not supported by this model's host, which speaks another wire; ${remedy}.`,
  });
}

/** A field that differs from a known field only in case. */
export function caseVariant(param: string, plain: string): GatewayError {
  return new GatewayError('duplicate_key', {
    param,
    message: `\`${param}\` could be read as \`${plain}\`. Write it in lower case, or leave it out.`,
  });
}

export function missing(param: string, message: string): GatewayError {
  return new GatewayError('missing_required_parameter', { param, message });
}
