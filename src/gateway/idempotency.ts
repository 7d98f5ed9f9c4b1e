import { createHash } from 'node:crypto';
import { GatewayError } from '../canonical/errors.ts';
import type { Sealer } from '../custody/seal.ts';
import { headerLines, readHeaderLines } from '../http1/headers.ts';
import { tryParseJson } from '../json/json.ts';
import { formatId } from '../kit/ids.ts';
import type { Repeat } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { IdempotencyMark } from '../store/store.ts';
import type { Call } from './call.ts';
import type { WholeAnswer } from './client-sink.ts';
import type { Gateway } from './gateway.ts';

export const IDEMPOTENCY_HEADER = 'idempotency-key';

const PRINTABLE = /^[\x20-\x7e]+$/;

/** The caller's word that requests under this key are one: the same body, to the same route. Null without the header. */
export function readIdempotencyMark({ headers, route, body }: Call): IdempotencyMark | null {
  const key = headers[IDEMPOTENCY_HEADER];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key.length > LIMITS.idempotencyKeyCharsMax || !PRINTABLE.test(key)) {
    throw new GatewayError('invalid_header', {
      param: IDEMPOTENCY_HEADER,
      message: `\`Idempotency-Key\` must have 1 to ${LIMITS.idempotencyKeyCharsMax} printable ASCII characters; a random UUID will do.`,
    });
  }
  return { key, bodySha256: createHash('sha256').update(`${route}\n`).update(body).digest() };
}

/** What a seal is bound to: an answer opens for its account, its key and its call alone. */
function placeOf({ caller }: Call, { key }: IdempotencyMark, callId: bigint): string[] {
  return ['idempotency', String(caller.accountId), key, String(callId)];
}

/** As it is kept, whichever way a head is handed about meanwhile. */
interface KeptHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer as the store keeps it; null where it is too large, or one too many: then the key keeps only the fact. */
export function keepAnswer(
  { sealer, keptBudget }: Pick<Gateway, 'sealer' | 'keptBudget'>,
  call: Call,
  mark: IdempotencyMark,
  { status, lines, body }: WholeAnswer,
): Uint8Array | null {
  if (body.length > LIMITS.idempotencyAnswerBytesMax) return null;
  if (!keptBudget.take(call.caller.accountId, body.length)) return null;
  const said = readHeaderLines(lines, 0);
  if (said === null) throw new Error('An answer to be kept has a header that is none.');
  const headers = { ...said, 'content-length': String(body.length) };
  const head = Buffer.from(`${JSON.stringify({ status, headers } satisfies KeptHead)}\n`);
  return sealer.seal(Buffer.concat([head, body]), placeOf(call, mark, call.id));
}

/** What the call that has the key was answered; throws why there is nothing to give again. */
export function answerAgain(sealer: Sealer, call: Call, mark: IdempotencyMark, repeat: Repeat): WholeAnswer {
  if (repeat.state !== 'finished') throw refusalOfRepeat(repeat.state);
  const plain = repeat.kept === null ? null : sealer.open(repeat.kept, placeOf(call, mark, repeat.callId));
  if (plain !== null) return readKept(plain);
  const receipt = formatId('req_', repeat.callId);
  throw new GatewayError('idempotency_finished', {
    param: IDEMPOTENCY_HEADER,
    message: `The call with this key is finished, and its answer was not kept, as those of streams and large ones are not; GET /v1/receipts/${receipt} says how it ended and what it cost. Use a new key to call again.`,
  });
}

/** A call that cannot be served now, for no fault of its own, may have been answered before: then it gets that answer. */
export async function answerInstead({ ledger, sealer }: Gateway, call: Call, refusal: unknown): Promise<WholeAnswer> {
  if (!(refusal instanceof GatewayError) || refusal.status < 500) throw refusal;
  const idempotency = readIdempotencyMark(call);
  if (idempotency === null) throw refusal;
  const { accountId, keyId } = call.caller;
  const repeat = await ledger.findRepeat({ id: call.id, accountId, keyId, idempotency }).catch(() => null);
  if (repeat === null || repeat.state === 'mismatch') throw refusal;
  return answerAgain(sealer, call, idempotency, repeat);
}

/** The head stands on a line of its own, before the body. */
function readKept(plain: Uint8Array): WholeAnswer {
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
        message: 'The call with this key is still running; nothing more was charged. Ask again shortly.',
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
          'The call with this key was broken off, and its outcome is unknown; nothing was charged. Use a new key to call again.',
      });
  }
}
