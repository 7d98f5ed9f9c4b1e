import type { IncomingHttpHeaders } from 'node:http';
import { invalidKey } from '../accounts/authenticate.ts';
import { GatewayError } from '../canonical/errors.ts';
import { isHostField } from '../http1/host-field.ts';
import type { InboundRequest } from '../http1/server.ts';
import { LIMITS } from '../limits.ts';
import { checkTarget } from './request-target.ts';

export type RequestHead = Pick<
  InboundRequest,
  'url' | 'rawHeaders' | 'headers' | 'httpVersionMajor' | 'httpVersionMinor'
>;

/**
 * Refuses a head that a proxy in front of us could have read as a different request. One pass over the target and the raw
 * headers; null if the head is valid.
 */
export function checkHead(request: RequestHead): GatewayError | null {
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1) return badRequest('Use HTTP/1.1.');
  return checkTarget(request.url) ?? checkHeaders(request);
}

/** Headers that decide how a request is read, who sent it or which call it is. Each may appear only once. */
const SINGLE = [
  'host',
  'expect',
  'upgrade',
  'content-type',
  'authorization',
  'idempotency-key',
  'content-length',
  'content-encoding',
  'transfer-encoding',
] as const;
const BIT_OF_NAME: ReadonlyMap<string, number> = new Map(SINGLE.map((name, at) => [name, 1 << at]));
/** Lets the loop skip most other headers by their length alone. */
const LENGTHS: ReadonlySet<number> = new Set(SINGLE.map(({ length }) => length));

const HOST = bitOf('host');
const AUTHORIZATION = bitOf('authorization');
const FRAMING = bitOf('content-length') | bitOf('transfer-encoding');
const SPECIAL = bitOf('expect') | bitOf('upgrade') | bitOf('transfer-encoding');

function bitOf(name: (typeof SINGLE)[number]): number {
  return BIT_OF_NAME.get(name)!;
}

function checkHeaders(request: RequestHead): GatewayError | null {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * LIMITS.requestHeadersMax) return tooManyHeaders();
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!LENGTHS.has(name.length)) continue;
    const bit = BIT_OF_NAME.get(name.toLowerCase());
    if (bit === undefined) continue;
    if ((seen & bit) !== 0) return bit === AUTHORIZATION ? invalidKey() : sentTwice(name.toLowerCase());
    if (bit === HOST && !isHostField(rawHeaders[at + 1]!)) return rawHeaders[at + 1] === '' ? noHost() : invalidHost();
    seen |= bit;
  }
  if ((seen & HOST) === 0) return noHost();
  if ((seen & FRAMING) === FRAMING) return twoLengths();
  return (seen & SPECIAL) === 0 ? null : checkSpecial(request);
}

function checkSpecial({ headers, httpVersionMinor }: RequestHead): GatewayError | null {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) {
    return invalidHeader('transfer-encoding', 'must be `chunked` and nothing else, over HTTP/1.1');
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return new GatewayError('expectation_failed', {
      param: 'expect',
      message: '`expect` must be `100-continue`; no other expectation is supported.',
    });
  }
  // Some clients offer HTTP/2 with every request and accept HTTP/1.1.
  if (headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c') {
    return invalidHeader('upgrade', 'asks for an unsupported protocol; responses stream over plain HTTP');
  }
  return null;
}

/** Checked after authentication. Bodies are never decompressed. */
export function checkBodyHead(headers: IncomingHttpHeaders): GatewayError | null {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return null;
  return new GatewayError('unsupported_media_type', {
    param: 'content-encoding',
    message: `The content encoding ${JSON.stringify(encoding.slice(0, 50))} is not supported; send the body without \`content-encoding\`.`,
  });
}

function badRequest(message: string): GatewayError {
  return new GatewayError('bad_request', { message });
}

function invalidHeader(param: string, fault: string): GatewayError {
  return new GatewayError('invalid_header', { param, message: `\`${param}\` ${fault}.` });
}

function sentTwice(name: string): GatewayError {
  return invalidHeader(name, 'was sent twice; send it once');
}

function noHost(): GatewayError {
  return invalidHeader('host', 'is missing; send the name of the host');
}

function invalidHost(): GatewayError {
  return invalidHeader('host', 'must be a host name or an IP address, optionally followed by a port');
}

function twoLengths(): GatewayError {
  return invalidHeader('transfer-encoding', 'and `content-length` contradict each other; send one of them');
}

function tooManyHeaders(): GatewayError {
  return new GatewayError('request_head_too_large', {
    message: `The request has more than ${LIMITS.requestHeadersMax} headers. Send fewer.`,
  });
}
