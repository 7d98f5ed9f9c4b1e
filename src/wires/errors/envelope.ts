import { errorEnvelope, type GatewayError } from '../../canonical/errors.ts';
import type { WrittenError } from '../wire.ts';

/** Errors of every wire except messages. */
export function writeError(error: GatewayError): WrittenError {
  return { status: error.status, body: JSON.stringify(errorEnvelope(error)) };
}

export function writeStreamError(error: GatewayError): string {
  return `data: ${JSON.stringify(errorEnvelope(error))}\n\n`;
}

/** A comment; every SSE client ignores it. */
export const COMMENT = ': keep-alive\n\n';
