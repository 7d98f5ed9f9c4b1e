import { GatewayError } from '../canonical/errors.ts';
import { MISSING_USAGE } from '../canonical/usage.ts';
import type { Candidate } from '../hosts/directory.ts';
import { LIMITS } from '../limits.ts';
import { WIRES } from '../wires/registry.ts';
import type { Wire } from '../wires/wire.ts';
import type { ClientSink } from './client-sink.ts';
import type { Admitted } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import type { Outcome } from './outcome.ts';
import { identityHeaders } from './refuse.ts';
import { type AttemptResult, type AttemptTerms, CLIENT_GONE_STATUS } from './relay/attempt.ts';
import { relayBuffered } from './relay/buffered.ts';
import { relayStreamed } from './relay/streamed.ts';

/** Asks the model's hosts in order of price until one answers; another is asked only while nothing has left for the client. */
export async function serve(gateway: Gateway, admitted: Admitted, sink: ClientSink): Promise<AttemptResult & Outcome> {
  if (sink.gone) return { ...NEVER_ASKED, host: null, attempts: 0 };
  const candidates = gateway.hosts().candidates(admitted.admission.model).slice(0, LIMITS.hostAttemptsMax);
  let last: (AttemptResult & Outcome) | null = null;
  for (const [index, candidate] of candidates.entries()) {
    const result = await attempt(gateway, admitted, candidate, sink);
    last = { ...result, host: candidate.host.row.name, attempts: index + 1 };
    if (!result.retryable) break;
  }
  if (last === null) {
    throw new GatewayError('no_healthy_host', {
      message: 'No host of this model can be called right now.',
      retryAfterS: 1,
    });
  }
  return last;
}

/** The client left while its hold was being taken: no host is asked. */
const NEVER_ASKED: AttemptResult = {
  ended: 'client_gone',
  httpStatus: CLIENT_GONE_STATUS,
  usage: MISSING_USAGE,
  drained: false,
  contentLeft: false,
  relayedBytes: 0,
  error: null,
  hostFault: null,
  retryable: false,
  deliver: () => {},
};

function attempt(gateway: Gateway, admitted: Admitted, candidate: Candidate, sink: ClientSink): Promise<AttemptResult> {
  const terms = attemptTerms(gateway, admitted, candidate, sink);
  return admitted.peek.stream ? relayStreamed(terms) : relayBuffered(terms);
}

function attemptTerms(gateway: Gateway, admitted: Admitted, candidate: Candidate, sink: ClientSink): AttemptTerms {
  const { call, peek, admission } = admitted;
  const { row } = candidate.host;
  const wire = WIRES[row.wire]!;
  const hideReasoning = peek.reasoning?.hideTrace ?? false;
  return {
    wire,
    send: (receiver) => candidate.host.send(wire.relay.path, requestBody(admitted, candidate, wire), receiver),
    hideKey: (text) => candidate.host.hideKey(text),
    relay: {
      catalogModel: admission.model.id,
      requestId: call.requestId,
      createdS: Math.floor(gateway.clock.nowMs() / 1000),
      wantsUsageFrame: peek.wantsUsageFrame,
      hideReasoning,
      manners: row.slots,
    },
    // A trace must stand under both of its names, or under none: no host sends that by itself.
    exact: row.relay === 'exact' && peek.reasoning === null,
    onClientGone: row.onClientGone,
    sink,
    headers: identityHeaders(call.requestId, peek.model, admission.model.id),
    limits: gateway.limits,
    clock: gateway.clock,
    shutdown: gateway.shutdown,
  };
}

function requestBody({ text, peek, admission }: Admitted, { host, hostModel }: Candidate, wire: Wire): Buffer {
  const { outputLimitField, forwards } = host.row;
  const { outputLimit, reasoningEffort } = admission;
  return wire.relay.writeRequest(text, peek, { hostModel, outputLimit, outputLimitField, forwards, reasoningEffort });
}
