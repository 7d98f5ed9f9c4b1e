import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';

const NO_BODY = Buffer.alloc(0);
const JSON_TYPE = /^application\/json[ \t]*(?:;.*)?$/i;

/**
 * Reads a body whole, as the bytes it is; what is no JSON by its own word, or too long, is not taken in. Who waits for
 * leave to send it gets that only here.
 */
export function readRequestBody(
  request: IncomingMessage,
  bytesMax: number,
  giveLeave: () => void,
  done: (body: Buffer | GatewayError) => void,
): void {
  const { headers } = request;
  const length = headers['content-length'];
  const isEmpty = length === undefined ? headers['transfer-encoding'] === undefined : Number(length) === 0;
  if (isEmpty && headers['content-type'] === undefined) done(NO_BODY);
  else if (!isJson(headers['content-type'])) done(notJson());
  else if (length !== undefined && Number(length) > bytesMax) done(tooLarge(bytesMax));
  else {
    if (headers.expect !== undefined) giveLeave();
    collect(request, bytesMax, done);
  }
}

function collect(request: IncomingMessage, bytesMax: number, done: (body: Buffer | GatewayError) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const finish = (result: Buffer | GatewayError): void => {
    if (isOver) return;
    isOver = true;
    done(result);
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) finish(tooLarge(bytesMax));
    else if (!isOver) chunks.push(chunk);
  });
  request.on('end', () => finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
  request.on('error', () => finish(unreadable()));
}

function isJson(type: string | undefined): boolean {
  return type === 'application/json' || (type !== undefined && JSON_TYPE.test(type));
}

function notJson(): GatewayError {
  return new GatewayError('unsupported_media_type', {
    param: 'content-type',
    message: 'The body must be JSON: send `content-type: application/json`.',
  });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', { message: `The body is larger than ${bytesMax} bytes. Send less.` });
}

function unreadable(): GatewayError {
  return new GatewayError('bad_request', { message: 'The request broke off before its body had arrived.' });
}
