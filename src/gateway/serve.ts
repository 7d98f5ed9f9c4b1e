import { MISSING_USAGE } from '../canonical/usage.ts';
import type { ClientSink } from './client-sink.ts';
import type { Admitted } from './exchange.ts';
import type { Call, Gateway } from './gateway.ts';
import type { Outcome } from './outcome.ts';
import type { Passage } from './passage.ts';
import { identityHeaders } from './refuse.ts';
import { type AttemptResult, type AttemptTerms, CLIENT_GONE_STATUS } from './relay/attempt.ts';
import { relayBuffered } from './relay/buffered.ts';
import { relayStreamed } from './relay/streamed.ts';

/** Asks the model's hosts in order of price until one answers; another is asked only while nothing has left for the client. */
export async function serve(gateway: Gateway, admitted: Admitted, sink: ClientSink): Promise<AttemptResult & Outcome> {
  if (sink.gone) return { ...NEVER_ASKED, host: null, attempts: 0 };
  let attempts = 0;
  for (const passage of admitted.passages) {
    const result = await attempt(gateway, admitted, passage, sink);
    attempts++;
    if (result.retryable && attempts < admitted.passages.length) continue;
    return { ...result, host: passage.candidate.host.row.name, attempts };
  }
  throw new Error('A call was admitted without a passage.');
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

function attempt(gateway: Gateway, admitted: Admitted, passage: Passage, sink: ClientSink): Promise<AttemptResult> {
  const { call, peek, admission } = admitted;
  const headers = identityHeaders(call.requestId, peek.model, admission.model.id);
  const terms = attemptTerms(gateway, call, passage, sink, headers);
  return peek.stream ? relayStreamed(terms) : relayBuffered(terms);
}

export function attemptTerms(
  { limits, clock, shutdown }: Gateway,
  { wire, requestId }: Call,
  passage: Passage,
  sink: ClientSink,
  headers: Record<string, string>,
): AttemptTerms {
  const { host } = passage.candidate;
  const body = passage.body();
  return {
    passage,
    client: wire.client,
    requestId,
    send: (receiver) => host.send(passage.path, passage.headers, body, receiver),
    hideKey: (text) => host.hideKey(text),
    onClientGone: host.row.onClientGone,
    sink,
    headers,
    limits,
    clock,
    shutdown,
  };
}
