import { errorEnvelope, type GatewayError } from '../../canonical/errors.ts';
import type { WrittenError } from '../wire.ts';

/** Errors as every wire but the messages one writes them. */
export function writeError(error: GatewayError): WrittenError {
  return { status: error.status, body: JSON.stringify(errorEnvelope(error)) };
}

export function writeStreamError(error: GatewayError): string {
  return `data: ${JSON.stringify(errorEnvelope(error))}\n\n`;
}

/** A comment, which every reader of event streams passes over. */
export const COMMENT = ': keep-alive\n\n';
