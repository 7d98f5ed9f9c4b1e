import { GatewayError } from '../canonical/errors.ts';
import { MISSING_USAGE, ZERO_USAGE } from '../canonical/usage.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Candidate } from '../hosts/directory.ts';
import type { JsonText } from '../json/json.ts';
import type { Bill } from '../wires/bill.ts';
import { countTokens, messages } from '../wires/messages/index.ts';
import type { Peek } from '../wires/peek.ts';
import { checkNeeds, servesRoute } from './admit.ts';
import type { Call } from './call.ts';
import type { ClientSink } from './client-sink.ts';
import { openRecord } from './exchange-record.ts';
import type { Gateway } from './gateway.ts';
import type { HostCall } from './host-call.ts';
import { readCallBody, readModelName } from './read-call.ts';
import { FREE_LINES } from './receipt-headers.ts';
import { identityLines, refuse } from './refuse.ts';
import { relayBuffered } from './relay/buffered.ts';
import { resolve } from './resolve.ts';
import { attemptTerms } from './serve.ts';

const NOTHING: Bill = { usage: ZERO_USAGE, costNanousd: 0n, costUsd: 0, components: null };

/** Has the model's host count a prompt. Counting is free, so there is no hold and no receipt. */
export async function countPrompt(gateway: Gateway, call: Call, sink: ClientSink): Promise<void> {
  const record = openRecord(call);
  try {
    const text = readCallBody(gateway, call);
    record.requestedModel = readModelName(text);
    const peek = countTokens.peek(text, call.headers);
    const model = modelToCount(gateway, call, peek);
    record.effectiveModel = model.id;
    checkNeeds(model, peek.needs);
    const hostCall = countingHostCall(text, peek.hostHeaders, counterOf(gateway, model));
    record.host = hostCall.candidate.host.row.name;
    const lines = identityLines(call.requestId, peek.model, model.id);
    const result = await relayBuffered(attemptTerms(gateway, call, hostCall, sink, lines));
    if (result.error !== null) throw result.error;
    result.deliver(NOTHING, FREE_LINES);
    record.status = result.httpStatus;
    record.ended = result.ended;
  } catch (error) {
    refuse(call, record, sink, error);
  }
  record.totalMs = gateway.clock.monotonicMs() - call.startedMs;
  gateway.observe(record);
}

/** For "auto" or "default", chooses the model with the lowest input price among those that serve this route. */
function modelToCount(
  gateway: Gateway,
  { caller }: Call,
  { model, needs }: Pick<Peek, 'model' | 'needs'>,
): CatalogModel {
  const named = resolve(gateway.prices().catalog, caller, model, (one) => servesRoute(one, needs));
  if (named.kind === 'model') return named.model;
  if (named.kind === 'unknown') throw named.refusal;
  const [cheapest] = named.among.filter((one) => servesRoute(one, needs)).toSorted(byInputPrice);
  if (cheapest !== undefined) return cheapest;
  throw new GatewayError('model_not_found', {
    param: 'model',
    message: 'No model that this key may use counts prompts. GET /v1/models lists the available models.',
  });
}

function byInputPrice(a: CatalogModel, b: CatalogModel): number {
  return a.price.inputNanousdPerMillion < b.price.inputNanousdPerMillion ? -1 : 1;
}

function counterOf(gateway: Gateway, model: CatalogModel): Candidate {
  const candidate = gateway
    .hosts()
    .candidates(model)
    .find(({ wires }) => wires.some((name) => name === messages.name));
  if (candidate !== undefined) return candidate;
  throw new GatewayError('unsupported_feature', {
    param: 'model',
    message: `No host of ${model.id} counts prompts. Send the request itself: the usage of its response has the count.`,
  });
}

function countingHostCall(
  text: JsonText,
  hostHeaders: Readonly<Record<string, string>>,
  candidate: Candidate,
): HostCall {
  return {
    candidate,
    path: countTokens.path,
    headers: { ...messages.relay.headers, ...hostHeaders },
    adjusted: null,
    body: () => countTokens.spliceRequest(text, candidate.hostModel),
    openStream: () => {
      throw new Error('A count is never streamed.');
    },
    spliceResponse: (body) => {
      const counted = countTokens.writeResponse(countTokens.spliceResponse(body));
      return { usage: MISSING_USAGE, relayedBytes: 0, write: () => Buffer.from(counted) };
    },
    answerAsStream: () => null,
    readError: messages.relay.readError,
  };
}
