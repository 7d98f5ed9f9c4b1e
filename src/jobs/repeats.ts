import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../canonical/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { IDEMPOTENCY_HEADER, readIdempotencyKey } from '../gateway/idempotency.ts';
import type { Repeat } from '../ledger/ledger.ts';
import type { IdempotencyMark } from '../store/store.ts';
import type { Submission } from './jobs.ts';

/** For a request whose body is not known yet. */
export const NO_HASH = new Uint8Array(32);

/** The idempotency key of a submission; null without one. */
export function readMark(headers: IncomingHttpHeaders, bodySha256: Uint8Array): IdempotencyMark | null {
  const key = readIdempotencyKey(headers);
  return key === null ? null : { key, bodySha256 };
}

/** What the ledger knows about a submission's idempotency key; null if it is not known. */
export async function findRepeat(
  { ledger }: Pick<Gateway, 'ledger'>,
  { id, caller, headers }: Submission,
  bodySha256: Uint8Array,
): Promise<Repeat | null> {
  const idempotency = readMark(headers, bodySha256);
  if (idempotency === null) return null;
  const { accountId, keyId, key } = caller;
  return ledger.findRepeat({ id, accountId, keyId, personId: key?.personId ?? null, idempotency }).catch(() => null);
}

/** The id of the job or group that the first submission with this key made. */
export function readRepeat({ state, callId }: Repeat): bigint {
  if (state === 'finished') return callId;
  if (state === 'mismatch') {
    throw new GatewayError('idempotency_mismatch', {
      param: IDEMPOTENCY_HEADER,
      message:
        'This key was used for another body or another route; nothing was reserved. Use a new key for a new request.',
    });
  }
  throw new GatewayError('idempotency_in_progress', {
    param: IDEMPOTENCY_HEADER,
    message: 'The request with this key is still running; nothing more was reserved. Try again shortly.',
    retryAfterS: 1,
  });
}
