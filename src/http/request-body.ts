import { GatewayError } from '../canonical/errors.ts';
import { overloaded } from '../gateway/guards/load.ts';
import type { InboundRequest } from '../http1/server.ts';
import { LIMITS } from '../limits.ts';

const NO_BODY = Buffer.alloc(0);
const JSON_TYPE = /^application\/json[ \t]*(?:;.*)?$/i;

/** How to read a body. */
export interface BodyTerms {
  readonly bytesMax: number;
  /** Sends `100 Continue` to a client that waits for it. */
  giveLeave(): void;
  /** Called once for a large body, before it is read; returns false if there is no room for it. */
  makeRoom(bytes: number): boolean;
}

/** Reads a whole body as bytes. A body that is too long or not declared as JSON is refused unread. */
export function readRequestBody(
  request: InboundRequest,
  terms: BodyTerms,
  done: (body: Buffer | GatewayError) => void,
): void {
  const { bytesMax } = terms;
  const { headers } = request;
  const length = headers['content-length'];
  const isEmpty = length === undefined ? headers['transfer-encoding'] === undefined : Number(length) === 0;
  if (isEmpty && headers['content-type'] === undefined) done(NO_BODY);
  else if (!isJson(headers['content-type'])) done(notJson());
  else if (length !== undefined && Number(length) > bytesMax) done(tooLarge(bytesMax));
  else if (Number(length) > LIMITS.largeBodyBytes && !terms.makeRoom(Number(length))) done(overloaded());
  else {
    if (headers.expect !== undefined && !request.complete) terms.giveLeave();
    const whole = request.takeWhole();
    if (whole === null) collect(request, terms, length !== undefined, done);
    else if (whole.length > bytesMax) done(tooLarge(bytesMax));
    else done(whole);
  }
}

function collect(
  request: InboundRequest,
  { bytesMax, makeRoom }: BodyTerms,
  hasLength: boolean,
  done: (body: Buffer | GatewayError) => void,
): void {
  let hasRoom = hasLength;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const finish = (result: Buffer | GatewayError): void => {
    if (isOver) return;
    isOver = true;
    done(result);
  };
  const data = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > bytesMax) finish(tooLarge(bytesMax));
    else if (!hasRoom && bytes > LIMITS.largeBodyBytes && !isOver) {
      // Without a length it may become as long as the limit allows.
      hasRoom = makeRoom(bytesMax);
      if (hasRoom) pieces.push(piece);
      else finish(overloaded());
    } else if (!isOver) pieces.push(piece);
  };
  const end = (): void => finish(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
  request.read({ data, end, failed: () => finish(unreadable()) });
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
  return new GatewayError('request_too_large', {
    message: `The body is larger than ${bytesMax} bytes. Send a smaller one.`,
  });
}

function unreadable(): GatewayError {
  return new GatewayError('bad_request', { message: 'The connection closed before the whole body had arrived.' });
}
