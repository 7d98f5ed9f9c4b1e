import { openRecord } from '../src/gateway/exchange-record.ts';
import type { AttemptResult, AttemptTerms } from '../src/gateway/relay/attempt.ts';
import { attemptTerms } from '../src/gateway/serve.ts';
import { type Admitted, understand } from '../src/gateway/understand.ts';
import type { Bill } from '../src/wires/bill.ts';
import type { SentRequest } from './fake-hosts.ts';
import type { FakeSink } from './fake-sink.ts';
import { type Body, GatewayFixture, type GatewayOptions } from './gateway-fixture.ts';

/** The header lines that a relay writes before its own in every response. */
const IDENTITY_LINES = 'x-gateway-request-id: req_1\r\n';

export const BILL: Bill = {
  usage: {
    freshTokens: 10,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 4,
    reasoningTokens: 0,
  },
  costNanousd: 180n,
  costUsd: 0.00000018,
  components: null,
};

/** One attempt at the host `alpha`, without ledger and retries. */
export interface Attempt {
  readonly fixture: GatewayFixture;
  readonly sink: FakeSink;
  readonly request: SentRequest;
  readonly result: Promise<AttemptResult>;
}

export async function prepareAttempt(body: Body, options: GatewayOptions = {}) {
  const fixture = await GatewayFixture.open(options);
  const sink = fixture.sink();
  const call = fixture.call(body);
  const { hostCalls } = understand(fixture.gateway, call, openRecord(call)) as Admitted;
  const heldSinceMs = fixture.clock.nowMs();
  const terms = { ...attemptTerms(fixture.gateway, call, hostCalls[0]!, sink, IDENTITY_LINES), heldSinceMs };
  return { fixture, sink, terms };
}

export async function startAttempt(
  relay: (terms: AttemptTerms) => Promise<AttemptResult>,
  body: Body,
  options: GatewayOptions = {},
): Promise<Attempt> {
  const { fixture, sink, terms } = await prepareAttempt(body, options);
  const result = relay(terms);
  return { fixture, sink, result, request: await fixture.hosts.next() };
}
