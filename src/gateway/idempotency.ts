import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Sealer } from '../custody/seal.ts';
import { headerLines, readHeaderText } from '../http1/headers.ts';
import { tryParseJson } from '../json/json.ts';
import { formatId } from '../kit/ids.ts';
import type { Repeat } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { IdempotencyMark } from '../store/store.ts';
import type { Call } from './call.ts';
import type { WholeResponse } from './client-sink.ts';
import type { Gateway } from './gateway.ts';

export const IDEMPOTENCY_HEADER = 'idempotency-key';

const PRINTABLE = /^[\x20-\x7e]+$/;

/**
 * Reads the idempotency key, with a hash of route and body to detect reuse for another request. Null without the
 * header.
 */
export function readIdempotencyMark({ headers, route, body, pathModel }: Call): IdempotencyMark | null {
  const key = readIdempotencyKey(headers);
  if (key === null) return null;
  return {
    key,
    bodySha256: createHash('sha256')
      .update(`${route}${modelMark(pathModel)}\n`)
      .update(body)
      .digest(),
  };
}

/** Null without the header. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const key = headers[IDEMPOTENCY_HEADER];
  if (key === undefined) return null;
  if (typeof key === 'string' && key.length <= LIMITS.idempotencyKeyCharsMax && PRINTABLE.test(key)) return key;
  throw new GatewayError('invalid_header', {
    param: IDEMPOTENCY_HEADER,
    message: `\`Idempotency-Key\` must have 1 to ${LIMITS.idempotencyKeyCharsMax} printable ASCII characters; a random UUID will do.`,
  });
}

/** The same body in the path of another model is another request. */
function modelMark(pathModel: Call['pathModel']): string {
  return pathModel == null ? '' : ` ${pathModel}`;
}

/** A sealed response can be opened only for the same account, idempotency key and call. */
function placeOf({ caller }: Call, { key }: IdempotencyMark, callId: bigint): string[] {
  return ['idempotency', String(caller.accountId), key, String(callId)];
}

/** The stored form of a response head, independent of how a head looks in memory. */
interface KeptHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The response as it is stored; null if it is too large or the budget is used up. Then only the fact that the call finished is stored.
 */
export function keepResponse(
  { sealer, keptBudget }: Pick<Gateway, 'sealer' | 'keptBudget'>,
  call: Call,
  mark: IdempotencyMark,
  { status, lines, body }: WholeResponse,
): Uint8Array | null {
  if (body.length > LIMITS.idempotencyAnswerBytesMax) return null;
  if (!keptBudget.take(call.caller.accountId, body.length)) return null;
  const said = readHeaderText(lines);
  if (said === null) throw new Error('Stored answer has an invalid header.');
  const headers = { ...said, 'content-length': String(body.length) };
  const head = Buffer.from(`${JSON.stringify({ status, headers } satisfies KeptHead)}\n`);
  return sealer.seal(Buffer.concat([head, body]), placeOf(call, mark, call.id));
}

/** The stored response of the call that used this key first; throws if there is none to send. */
export function answerAgain(sealer: Sealer, call: Call, mark: IdempotencyMark, repeat: Repeat): WholeResponse {
  if (repeat.state !== 'finished') throw refusalOfRepeat(repeat.state);
  const plain = repeat.kept === null ? null : sealer.open(repeat.kept, placeOf(call, mark, repeat.callId));
  if (plain !== null) return readKept(plain);
  const receipt = formatId(REQUEST_PREFIX, repeat.callId);
  throw new GatewayError('idempotency_finished', {
    param: IDEMPOTENCY_HEADER,
    message: `The call with this key is finished, but its response was not stored: streams and large responses are not. GET /v1/receipts/${receipt} says how it ended and what it cost. Use a new key to call again.`,
  });
}

/**
 * For a call that fails with a 5xx error: returns the response stored under its idempotency key, or throws the error.
 */
export async function answerInstead({ ledger, sealer }: Gateway, call: Call, refusal: unknown): Promise<WholeResponse> {
  if (!(refusal instanceof GatewayError) || refusal.status < 500) throw refusal;
  const idempotency = readIdempotencyMark(call);
  if (idempotency === null) throw refusal;
  const { accountId, keyId, key } = call.caller;
  const owner = { accountId, keyId, personId: key?.personId ?? null };
  const repeat = await ledger.findRepeat({ id: call.id, ...owner, idempotency }).catch(() => null);
  if (repeat === null || repeat.state === 'mismatch') throw refusal;
  return answerAgain(sealer, call, idempotency, repeat);
}

/** The stored form is the head as one line of JSON, then the body. */
function readKept(plain: Uint8Array): WholeResponse {
  const headEnd = plain.indexOf(0x0a);
  const { status, headers } = tryParseJson(Buffer.from(plain.subarray(0, headEnd)).toString()) as KeptHead;
  const { 'content-length': _, ...others } = headers;
  const lines = headerLines({ ...others, 'idempotency-replayed': 'true' });
  return { status, lines, body: Buffer.from(plain.subarray(headEnd + 1)) };
}

function refusalOfRepeat(state: Exclude<Repeat['state'], 'finished'>): GatewayError {
  const param = IDEMPOTENCY_HEADER;
  switch (state) {
    case 'running':
      return new GatewayError('idempotency_in_progress', {
        param,
        message: 'The call with this key is still running; nothing more was charged. Try again shortly.',
        retryAfterS: 1,
      });
    case 'mismatch':
      return new GatewayError('idempotency_mismatch', {
        param,
        message:
          'This key was used for another body or another route; nothing was charged. Use a new key for a new request.',
      });
    case 'unknown':
      return new GatewayError('idempotency_outcome_unknown', {
        param,
        message:
          'The call with this key was interrupted, and its outcome is unknown; nothing was charged. Use a new key to call again.',
      });
  }
}
