import type { Caller } from '../accounts/authenticate.ts';
import { ERROR_TABLE, type ErrorName, GatewayError } from '../canonical/errors.ts';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Call } from '../gateway/call.ts';
import type { CallLedger } from '../gateway/call-ledger.ts';
import type { WholeResponse } from '../gateway/client-sink.ts';
import type { Gateway, PricedCatalog } from '../gateway/gateway.ts';
import { BodyBudgets } from '../gateway/guards/body-budgets.ts';
import { CallSlots } from '../gateway/guards/call-slots.ts';
import { refusalOf } from '../gateway/refuse.ts';
import { tryParseJson } from '../json/json.ts';
import { formatId } from '../kit/ids.ts';
import type { Job } from '../store/jobs.ts';
import type { Wire } from '../wires/wire.ts';
import type { CallFacts } from './admit-job.ts';

/** The call as it would have been made at submission, under an id of its own. */
export function callOf(
  { ids, clock, tracing }: Pick<Gateway, 'ids' | 'clock' | 'tracing'>,
  job: Job,
  wire: Wire,
  caller: Caller,
  body: Buffer,
): Call {
  const id = ids.next();
  const { headers, isDeployment } = factsOf(job);
  return {
    id,
    requestId: formatId(REQUEST_PREFIX, id),
    route: job.endpoint,
    wire,
    caller,
    headers: { ...headers },
    body,
    startedMs: clock.monotonicMs(),
    trace: tracing?.begin({}) ?? null,
    deferred: { modelId: isDeployment ? null : job.effectiveModel, reservedNanousd: job.reservedNanousd },
  };
}

function factsOf({ headersJson }: Job): CallFacts {
  return (
    (headersJson === null ? null : (tryParseJson(headersJson) as CallFacts)) ?? { headers: {}, isDeployment: false }
  );
}

/** The worker limits how many jobs run, and submitting them was charged for their bodies. */
const NO_SLOTS = new CallSlots({ calls: null, streams: null });

/** The services of a call for one attempt of a job. `onRefused` gets the error of an attempt that did not start. */
export function gatewayFor(
  gateway: Gateway,
  ledger: CallLedger,
  prices: PricedCatalog,
  onRefused: (error: GatewayError) => void,
): Gateway {
  return {
    ...gateway,
    ledger,
    prices: () => prices,
    slots: NO_SLOTS,
    bodyBudgets: unlimitedBodies(gateway),
    refusals: { refused: (_, error) => onRefused(error) },
  };
}

export function unlimitedBodies({ clock }: Pick<Gateway, 'clock'>): BodyBudgets {
  return new BodyBudgets({ bodyBytesPerSecond: null, jsonMembersPerSecond: null }, clock);
}

/** The response of an error, as the call would have sent it. */
export function errorAnswer(
  call: Pick<Call, 'wire' | 'requestId'>,
  { requestedModel, effectiveModel }: Job,
  error: GatewayError,
): WholeResponse {
  return refusalOf(call, { requestedModel, effectiveModel }, error);
}

/** The response of a job that failed and has none stored: it never started, or its process died. */
export function answerOfFailed(job: Job, wire: Wire): WholeResponse {
  const requestId = formatId(REQUEST_PREFIX, job.callId ?? job.id);
  return errorAnswer({ wire, requestId }, job, errorOf(job));
}

function errorOf({ errorCode, errorMessage }: Job): GatewayError {
  const names = Object.keys(ERROR_TABLE) as ErrorName[];
  const kind = names.find((name) => ERROR_TABLE[name].code === errorCode) ?? 'internal_error';
  return new GatewayError(kind, {
    ...(errorCode !== null && { code: errorCode }),
    message: errorMessage ?? 'The job failed.',
  });
}
