import type { CheckedJson } from '../json/json.ts';
import type { Call } from './call.ts';
import { refuseWithoutKey } from './deployments/deployment.ts';
import type { ExchangeRecord } from './exchange-record.ts';
import { refuseForeignHeaders } from './foreign-headers.ts';
import type { Gateway } from './gateway.ts';
import { readIdempotencyMark } from './idempotency.ts';
import { allowsAdjusting } from './on-unsupported.ts';
import { peekModelName } from './read-call.ts';
import { isUsable, resolve } from './resolve.ts';

/**
 * Refuses a model that is not served here before the body is parsed and measured, which is most of the work that a long
 * request causes. Only a name that may be that of the caller's own deployment takes a promise. Null: the call goes on.
 */
export function refuseUnknownModel(
  gateway: Gateway,
  call: Call,
  checked: CheckedJson,
  record: ExchangeRecord,
): Promise<void> | null {
  const { catalog } = gateway.prices();
  const name = peekModelName(checked, call);
  if (name === null || isUsable(catalog, call.caller, name)) return null;
  record.requestedModel = name;
  refuseHeaders(call);
  const named = resolve(catalog, call.caller, name);
  return named.kind === 'unknown' ? refuseWithoutKey(gateway.custody, call, name, named.refusal) : null;
}

/** Errors about headers come first, as for every call. */
function refuseHeaders(call: Call): void {
  refuseForeignHeaders(call.headers);
  allowsAdjusting(call);
  readIdempotencyMark(call);
}
