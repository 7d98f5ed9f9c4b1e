import { GatewayError } from '../canonical/errors.ts';
import type { HoldRequest, HoldResult } from '../ledger/ledger.ts';
import type { Gateway } from './gateway.ts';
import { refusalOfHold } from './hold-refusal.ts';
import { type Admitted, admittedByCount } from './understand.ts';

export type HoldRefused = Extract<HoldResult, { kind: 'hold_refused' }>;

/** How money is taken for a call: held for one that is made now, reserved for one that is made later. */
type TakeMoney<Taken> = (request: HoldRequest) => Promise<Taken | HoldRefused>;

/** The call whose worst case was taken, and what the ledger said. */
interface TakenFor<Taken> {
  readonly admitted: Admitted;
  readonly taken: Taken;
}

function holdOf({ limits }: Pick<Gateway, 'limits'>, admitted: Admitted): HoldRequest {
  const { call, peek, admission, prices, ceilingNanousd, idempotency, chain, record } = admitted;
  return {
    id: call.id,
    accountId: call.caller.accountId,
    keyId: call.caller.keyId,
    personId: call.caller.key?.personId ?? null,
    amountNanousd: admission.worstNanousd,
    ceilingNanousd,
    lossLimitNanousd: admission.counted === null ? null : limits.hangupAllowanceNanousd,
    route: call.route,
    stream: peek.stream,
    requestedModel: record.requestedModel ?? peek.model,
    effectiveModel: admission.model.id,
    priceId: prices.priceId,
    labels: peek.labels,
    chain,
    idempotency,
  };
}

/** Takes the worst case against ceiling, key cap and balance, all or nothing. Throws the refusal. */
export async function takeWorstCase<Taken extends { readonly kind: string }>(
  gateway: Gateway,
  admitted: Admitted,
  take: TakeMoney<Taken>,
): Promise<TakenFor<Taken>> {
  const result = await take(holdOf(gateway, admitted));
  if (isRefused(result)) return takeOtherwise(gateway, admitted, result, take);
  return { admitted, taken: result };
}

/** After a refusal: takes more if the prompt may not be counted, or less if a count lowers the worst case. */
async function takeOtherwise<Taken extends { readonly kind: string }>(
  gateway: Gateway,
  admitted: Admitted,
  refused: HoldRefused,
  take: TakeMoney<Taken>,
): Promise<TakenFor<Taken>> {
  const first = isCountRefused(refused) ? await takeByBytes(gateway, admitted, take) : refusalFor(admitted, refused);
  if (!(first instanceof GatewayError)) return first;
  return takeByCount(gateway, admitted, first, take);
}

/** The account has used up its loss allowance, so a count that may fall short is no longer enough. */
function isCountRefused({ reason }: HoldRefused): boolean {
  return reason === 'loss_allowance';
}

/** Goes by the bytes of the prompt instead of a count. */
async function takeByBytes<Taken extends { readonly kind: string }>(
  gateway: Gateway,
  admitted: Admitted,
  take: TakeMoney<Taken>,
): Promise<TakenFor<Taken> | GatewayError> {
  const admission = admitted.admission.counted?.byBytes ?? admitted.admission;
  const byBytes = { ...admitted, admission, countRefused: true };
  return readResult(byBytes, await take(holdOf(gateway, byBytes)));
}

/** The bound by bytes may be too high: counts the tokens, and tries again if the worst case is lower. */
async function takeByCount<Taken extends { readonly kind: string }>(
  gateway: Gateway,
  admitted: Admitted,
  refusal: GatewayError,
  take: TakeMoney<Taken>,
): Promise<TakenFor<Taken>> {
  const counted = refusal.kind === 'account_suspended' ? null : await admittedByCount(gateway, admitted);
  if (counted === null) throw refusal;
  const result = await take(holdOf(gateway, counted));
  const taken =
    isRefused(result) && isCountRefused(result)
      ? await takeByBytes(gateway, counted, take)
      : readResult(counted, result);
  if (taken instanceof GatewayError) throw taken;
  return taken;
}

function readResult<Taken extends { readonly kind: string }>(
  admitted: Admitted,
  result: Taken | HoldRefused,
): TakenFor<Taken> | GatewayError {
  return isRefused(result) ? refusalFor(admitted, result) : { admitted, taken: result };
}

function isRefused<Taken extends { readonly kind: string }>(result: Taken | HoldRefused): result is HoldRefused {
  return result.kind === 'hold_refused';
}

function refusalFor({ call, peek, admission, countRefused }: Admitted, refused: HoldRefused): GatewayError {
  const keyCeilingNanousd = call.caller.key?.maxCostNanousd ?? null;
  return refusalOfHold({ ...refused, keyCeilingNanousd }, admission, peek, countRefused);
}
