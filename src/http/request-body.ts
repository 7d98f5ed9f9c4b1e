import { GatewayError } from '../canonical/errors.ts';
import { overloaded } from '../gateway/guards/load.ts';
import type { InboundRequest } from '../http1/server.ts';
import { joinPieces } from '../kit/joined-pieces.ts';
import { Pieces } from '../kit/pieces.ts';

const NO_BODY = Buffer.alloc(0);
const JSON_TYPE = /^application\/json[ \t]*(?:;.*)?$/i;

/** How to read a body. */
interface BodyTerms extends BodyRoom {
  readonly bytesMax: number;
}

/** The memory for a body. */
export interface BodyRoom {
  /** Sends `100 Continue` to a client that waits for it. */
  sendContinue(): void;
  /** True if there is room for a body of this size. */
  hasRoom(bytes: number): boolean;
  /** Takes room for bytes that have arrived; false if there is none. */
  takeRoom(bytes: number): boolean;
}

/** Reads a whole body as bytes. A body that is too long or not declared as JSON is refused unread. */
export function readRequestBody(
  request: InboundRequest,
  terms: BodyTerms,
  done: (body: Buffer | GatewayError) => void,
): void {
  const { bytesMax } = terms;
  const { headers } = request;
  const declared = headers['content-length'];
  const bytes = declared === undefined ? null : Number(declared);
  const isEmpty = bytes === null ? headers['transfer-encoding'] === undefined : bytes === 0;
  if (isEmpty && headers['content-type'] === undefined) done(NO_BODY);
  else if (!isJson(headers['content-type'])) done(notJson());
  else if (bytes !== null && bytes > bytesMax) done(tooLarge(bytesMax));
  else if (bytes !== null && !request.complete && !terms.hasRoom(bytes)) done(overloaded());
  else {
    if (headers.expect !== undefined && !request.complete) terms.sendContinue();
    const whole = request.takeWhole();
    if (whole === null) collect(request, terms, done);
    else if (whole.length > bytesMax) done(tooLarge(bytesMax));
    else done(terms.takeRoom(whole.length) ? whole : overloaded());
  }
}

function collect(
  request: InboundRequest,
  { bytesMax, takeRoom }: BodyTerms,
  done: (body: Buffer | GatewayError) => void,
): void {
  const pieces = new Pieces();
  let bytes = 0;
  let isOver = false;
  const finish = (result: Buffer | GatewayError): void => {
    if (isOver) return;
    isOver = true;
    done(result);
  };
  const data = (piece: Buffer): void => {
    if (isOver) return;
    bytes += piece.length;
    if (bytes > bytesMax) refuse(tooLarge(bytesMax));
    else if (takeRoom(piece.length)) pieces.add(piece);
    else refuse(overloaded());
  };
  const refuse = (error: GatewayError): void => {
    pieces.clear();
    finish(error);
  };
  const end = (): void => finish(joinPieces(pieces.all));
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
