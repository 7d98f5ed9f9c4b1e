import type { HostTry } from '../canonical/receipt.ts';
import { MISSING_USAGE } from '../canonical/usage.ts';
import { isClosed, isUsable } from '../hosts/choose.ts';
import type { Candidate } from '../hosts/directory.ts';
import type { HostHealth } from '../hosts/host-health.ts';
import { observeKeyProbe } from '../hosts/key-probe.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Call } from './call.ts';
import type { ClientSink } from './client-sink.ts';
import type { Gateway } from './gateway.ts';
import { type HostCall, handOver, noHost } from './host-call.ts';
import { hostMayBill } from './meter.ts';
import type { Outcome } from './outcome.ts';
import { adjustedLines, hangupLines } from './receipt-headers.ts';
import { identityLines } from './refuse.ts';
import {
  type AttemptResult,
  type AttemptTerms,
  CLIENT_GONE_STATUS,
  hostFailed,
  NOTHING_LEARNED,
} from './relay/attempt.ts';
import { relayBuffered } from './relay/buffered.ts';
import { relayStreamed } from './relay/streamed.ts';
import type { Admitted } from './understand.ts';

/** The result of serving a call: its last attempt, and how many there were. */
export type Served = AttemptResult & Outcome;

/** One finished attempt. */
interface Tried extends HostTry {
  readonly adjusted: string | null;
  readonly result: AttemptResult;
}

/** Whether the host may be cancelled, with this result; see `AttemptTerms.mayCancel`. */
export type MayCancel = (cancelled: Served) => Promise<boolean>;

/**
 * Tries the model's hosts in order until one answers. Another host is tried only while nothing was sent to the client:
 * the second always, the third within the retry budget, and never more.
 */
export async function serve(
  gateway: Gateway,
  admitted: Admitted,
  sink: ClientSink,
  mayCancel: MayCancel | null,
): Promise<Served> {
  if (sink.gone) return { ...NEVER_ASKED, host: null, attempts: 0 };
  gateway.health.retries.feed();
  const waiting = [...admitted.hostCalls];
  const tried: Tried[] = [];
  for (;;) {
    const hostCall = takeNext(waiting, gateway);
    if (hostCall === null) return servedBy(tried);
    const mayCancelLast = mayCancel === null ? null : (last: Tried) => mayCancel(servedBy([...tried, last]));
    const attempted = await attempt(gateway, admitted, hostCall, sink, mayCancelLast);
    tried.push(attempted);
    const mayGoOn = attempted.result.retryable && waiting.length > 0 && mayRetry(gateway, tried.length);
    if (!mayGoOn) return servedBy(tried);
  }
}

/** The next host that is still usable. The last one is tried in any case. */
function takeNext(waiting: HostCall[], { clock }: Gateway): HostCall | null {
  if (waiting.length < 2) return waiting.pop() ?? null;
  const nowMs = clock.monotonicMs();
  let at = waiting.findIndex(({ candidate }) => isUsable(candidate, nowMs));
  if (at === -1) at = waiting.findIndex(({ candidate }) => !isClosed(candidate, nowMs));
  return at === -1 ? null : waiting.splice(at, 1)[0]!;
}

function mayRetry({ health }: Gateway, attempts: number): boolean {
  return attempts === 1 || health.retries.spend();
}

/** The result of the last attempt, with the number of attempts. */
function servedBy(tried: readonly Tried[]): Served {
  const last = tried.at(-1);
  if (last === undefined) return { ...NEVER_ASKED, ...failure('failed', noHost()), host: null, attempts: 0 };
  const { host, adjusted } = last;
  if (tried.length === 1) return { ...last.result, host, adjusted, attempts: 1 };
  const earlier = tried.slice(0, -1);
  return {
    ...last.result,
    // The last host was at its rate limit, so it bills nothing, whatever the caller is told.
    ...(isMixedFailure(tried) && { ...failure(last.result.ended, hostFailed(false)), turnedAway: true }),
    host,
    adjusted,
    attempts: tried.length,
    tries: tried.map(({ host, outcome, ms }) => ({ host, outcome, ms })),
    billableTries: earlier.filter(({ result }) => hostMayBill(result)).length,
    repeats: tried.reduce((sum, { result }) => sum + (result.repeats ?? 0), 0),
  };
}

/** Whether hosts failed for different reasons: the caller gets a rate-limit error only if every host sent one. */
function isMixedFailure(tried: readonly Tried[]): boolean {
  const isLimit = ({ result }: Tried): boolean => result.error?.kind === 'rate_limit_exceeded';
  return tried.at(-1)!.result.retryable && isLimit(tried.at(-1)!) && !tried.every(isLimit);
}

function failure(ended: AttemptResult['ended'], error: NonNullable<AttemptResult['error']>) {
  return { ended, httpStatus: error.status, error };
}

/** The client left during the hold, or no host is left: no host is called. */
const NEVER_ASKED: AttemptResult = {
  ended: 'client_gone',
  httpStatus: CLIENT_GONE_STATUS,
  usage: MISSING_USAGE,
  drained: false,
  contentLeft: false,
  relayedBytes: 0,
  error: null,
  hostFault: null,
  sign: NOTHING_LEARNED,
  retryable: false,
  deliver: () => {},
};

function attempt(
  gateway: Gateway,
  admitted: Admitted,
  hostCall: HostCall,
  sink: ClientSink,
  mayCancelLast: ((last: Tried) => Promise<boolean>) | null,
): Promise<Tried> {
  const { clock } = gateway;
  const { call, peek, admission, record, hangupsCharged } = admitted;
  const { host, health } = hostCall.candidate;
  const lines =
    identityLines(call.requestId, record.requestedModel, admission.model.id) +
    hangupLines(hangupsCharged) +
    adjustedLines(hostCall.adjusted);
  const startedMs = clock.monotonicMs();
  const span = call.trace?.beginHost(host.row.name, startedMs) ?? null;
  const triedWith = (result: AttemptResult): Tried => {
    const outcome = (result.hostFault ?? result.ended).slice(0, LIMITS.tryOutcomeCharsMax);
    const endedMs = clock.monotonicMs();
    const ms = Math.round(endedMs - startedMs);
    if (span !== null) Object.assign(span, { endedMs, outcome });
    return { host: host.row.name, outcome, ms, adjusted: hostCall.adjusted, result };
  };
  const mayCancel = mayCancelLast === null ? null : (result: AttemptResult) => mayCancelLast(triedWith(result));
  const traced = span === null ? null : call.trace!.headersFor(span);
  const plain = {
    ...attemptTerms(gateway, call, hostCall, sink, lines, traced),
    mayCancel,
    heldSinceMs: record.heldSinceMs,
  };
  const ticket = health?.enter(startedMs) ?? 0;
  const terms = health?.probesKey(ticket) === true ? probingKey(plain, health, ticket, clock) : plain;
  const { accountId } = call.caller;
  const spare = (): boolean => hasSpare(gateway, admitted, hostCall.candidate);
  const ends = (result: AttemptResult): Tried => {
    health?.note(ticket, result.sign, clock.monotonicMs(), accountId, spare);
    return triedWith(result);
  };
  const fails = (error: unknown): never => {
    health?.note(ticket, NOTHING_LEARNED, clock.monotonicMs(), accountId, spare);
    throw error;
  };
  return (peek.stream ? relayStreamed(terms) : relayBuffered(terms)).then(ends, fails);
}

/** Only the call that tries a rejected key is observed, so that others cost nothing. */
function probingKey(terms: AttemptTerms, health: HostHealth, ticket: number, clock: Clock): AttemptTerms {
  return { ...terms, send: (receiver) => terms.send(observeKeyProbe(receiver, health, ticket, clock)) };
}

/** Whether another host of the model could take over. Called only when a host is about to be ejected. */
function hasSpare({ hosts, clock }: Gateway, { admission }: Admitted, candidate: Candidate): boolean {
  const nowMs = clock.monotonicMs();
  return hosts()
    .candidates(admission.model)
    .some((other) => other.host !== candidate.host && isUsable(other, nowMs));
}

/**
 * A host that reports more tokens than the call could use costs the operator the difference. If it repeats, it is
 * ejected.
 */
export function noteOverrun(gateway: Gateway, admitted: Admitted, { host }: Served): void {
  const candidate = admitted.hostCalls.find((hostCall) => hostCall.candidate.host.row.name === host)?.candidate;
  if (candidate === undefined) return;
  candidate.health?.overran(gateway.clock.monotonicMs(), () => hasSpare(gateway, admitted, candidate));
}

export function attemptTerms(
  { limits, clock, runningCalls }: Gateway,
  { wire, requestId, caller }: Call,
  hostCall: HostCall,
  sink: ClientSink,
  lines: string,
  traced: Readonly<Record<string, string>> | null = null,
): AttemptTerms {
  const { host } = hostCall.candidate;
  const takeBody = handOver(hostCall.body());
  const headers = traced === null ? hostCall.headers : { ...hostCall.headers, ...traced };
  return {
    hostCall,
    client: wire.client,
    requestId,
    heldSinceMs: null,
    send: (receiver) => host.send(hostCall.path, headers, takeBody(), receiver, caller.accountId),
    hideKey: (text) => host.hideKey(text),
    onClientGone: host.row.onClientGone,
    sink,
    lines,
    limits,
    clock,
    runningCalls,
    mayCancel: null,
  };
}
