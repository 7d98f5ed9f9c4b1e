import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import { isPlainCode } from '../../canonical/host-error.ts';
import type { RequestControl, ResponseReceiver } from '../../hosts/directory.ts';
import type { HostSign } from '../../hosts/host-sign.ts';
import { readRetryAfterMs } from '../../hosts/retry-after.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Bill } from '../../wires/bill.ts';
import { type ClientHalf, type HostError, HostResponseBroken } from '../../wires/wire.ts';
import type { CallLimits } from '../call-limits.ts';
import type { ClientSink, WholeResponse } from '../client-sink.ts';
import { noRoomForResponse } from '../guards/response-room.ts';
import type { HostCall } from '../host-call.ts';
import type { Outcome } from '../outcome.ts';
import type { RunningCalls } from '../running-calls.ts';

/** The inputs of one attempt at one host. */
export interface AttemptTerms {
  readonly hostCall: HostCall;
  /** The caller's own wire: its errors and keep-alives. */
  readonly client: ClientHalf;
  readonly requestId: string;
  /** Wall time of the hold, as on the receipt; null for a request that costs nothing. */
  readonly heldSinceMs: number | null;
  /** Sends the request to the host of this attempt. */
  send(receiver: ResponseReceiver): RequestControl;
  /** Removes our key for this host from the host's text. */
  hideKey(text: string): string;
  readonly onClientGone: 'drain' | 'cancel';
  readonly sink: ClientSink;
  /** Header lines of every response to this call. */
  readonly lines: string;
  readonly limits: CallLimits;
  readonly clock: Clock;
  readonly runningCalls: RunningCalls;
  /**
   * Called when the client has left and the host is about to be cancelled, with the result of that. Resolves to true if
   * the call was settled that way; otherwise the host is read to its end. Null: it may always be cancelled.
   */
  readonly mayCancel: ((cancelled: AttemptResult) => Promise<boolean>) | null;
}

type Seen = Omit<Outcome, 'host' | 'attempts'>;

/** The result of one attempt. `deliver` sends what was withheld until the settlement. */
export interface AttemptResult extends Seen {
  /** Nothing was sent to the client, and another host may succeed. */
  readonly retryable: boolean;
  /** What went wrong at the host, for the operator's log. */
  readonly hostFault: string | null;
  /** What this attempt says about the host's health. */
  readonly sign: HostSign;
  deliver(bill: Bill, costLines: string): void;
  /** The complete response, if it is buffered, even if the client is gone. */
  whole?(bill: Bill, costLines: string): WholeResponse;
}

/** The status that is logged for a call whose client left, as other servers do. No client sees it. */
export const CLIENT_GONE_STATUS = 499;

/** A failure of the host, in our own words: the host's may contain the prompt or our key. */
export interface HostFault {
  readonly words: string;
  /** The host refused our key or could not be reached. */
  readonly turnedAway?: boolean;
  /** Another host may succeed. */
  readonly retryable: boolean;
  readonly sign: HostSign;
  /** The caller's error, if the host call defines one. */
  readonly forCaller?: GatewayError | null;
}

export const HOST_WELL: HostSign = { kind: 'well', firstByteMs: null };
export const HOST_FAILED: HostSign = { kind: 'failed' };
export const NOTHING_LEARNED: HostSign = { kind: 'nothing' };

/** A host's error as the caller sees it, and as the operator sees it. */
interface HostFailure {
  readonly error: GatewayError;
  readonly fault: HostFault;
}

/**
 * Reads a host's error. Hosts echo keys and account ids in any field, so every string is redacted before it is used.
 */
export function readHostFailure(
  said: HostError,
  terms: AttemptTerms,
  retryAfterMs: number | null,
  contentLeft: boolean,
): HostFailure {
  const redacted = redact(said, terms.hideKey);
  const error = redacted.forCaller ?? errorForCaller(redacted, contentLeft, terms.hostCall.model);
  return { error: withRetryAfter(error, retryAfterMs), fault: faultOf(redacted, terms, retryAfterMs) };
}

function redact(error: HostError, hideKey: (text: string) => string): HostError {
  const hide = (text: string | null): string | null => (text === null ? null : hideKey(text));
  return { ...error, message: hideKey(error.message), code: hide(error.code), param: hide(error.param) };
}

function faultOf(error: HostError, { hostCall }: AttemptTerms, retryAfterMs: number | null): HostFault {
  const { kind, status, code } = error;
  const named = code !== null && isPlainCode(code) ? ` ${code}` : '';
  return {
    words: `${kind} ${status}${named}`,
    retryable: kind !== 'over_window' && kind !== 'request',
    turnedAway: kind === 'credentials',
    sign: signOf(error, hostCall.candidate.hostModel, retryAfterMs),
  };
}

function signOf({ kind, status, code }: HostError, model: string, retryAfterMs: number | null): HostSign {
  if (kind === 'unavailable') return HOST_FAILED;
  if (kind === 'rate' && status === 429) return { kind: 'limited', retryAfterMs };
  if (kind !== 'credentials') return HOST_WELL;
  if (status === 404 || code === 'model_not_found') return { kind: 'model_unknown', model };
  return status === 401 ? { kind: 'key_refused', status } : { kind: 'refused', status };
}

/** How long a host at its rate limit asks us to wait; null for any other status. */
export function retryAfterMsOf(status: number, headers: IncomingHttpHeaders, clock: Clock): number | null {
  return status === 429 ? readRetryAfterMs(headers, clock.nowMs()) : null;
}

/** Whether no byte of the request has reached the host. Without `control` the request was not even sent. */
export function isUnreached(control: RequestControl | null): boolean {
  return control === null || control.unreached === true;
}

/** Whether the request has reached no host, not even on a connection that closed: a client that leaves now owes nothing. */
export function isUnsent(control: RequestControl | null): boolean {
  return isUnreached(control) && repeatsOf(control) === 0;
}

/** Nothing came from the host in time. A request that was never sent says nothing about it. */
export function silenceFault(words: string, control: RequestControl | null): HostFault {
  const turnedAway = isUnsent(control);
  return { words, retryable: false, turnedAway, sign: turnedAway ? NOTHING_LEARNED : HOST_FAILED };
}

/** The connection failed. If the request did not reach the host, the host did not work and bills nothing. */
export function connectionFault(
  error: Error,
  { hostCall, hideKey }: AttemptTerms,
  control: RequestControl | null,
): HostFault {
  const turnedAway = isUnreached(control);
  const forCaller = hostCall.explain?.(error) ?? null;
  return { words: hideKey(error.message), retryable: true, turnedAway, sign: HOST_FAILED, forCaller };
}

/** What the host sent cannot be used. If the host call has an error for that, the caller gets it, and no other host is asked. */
export function brokenResponseFault(error: Error): HostFault {
  const forCaller = error instanceof HostResponseBroken ? (error.hostError?.forCaller ?? null) : null;
  return { words: error.message, retryable: forCaller === null, sign: HOST_FAILED, forCaller };
}

/** The caller's error for a response that was given up. */
export function errorOfFault({ forCaller, words }: HostFault, hostCall: HostCall, contentLeft: boolean): GatewayError {
  return forCaller ?? hostCall.explain?.(new HostResponseBroken(words)) ?? hostFailed(contentLeft);
}

/** The response takes up more memory than is left. The host has done its work. */
export function noRoomFault(): HostFault {
  const words = 'no memory for the response';
  return { words, retryable: false, sign: NOTHING_LEARNED, forCaller: noRoomForResponse() };
}

/** 1 if the host may also bill for a request that was repeated on a new connection. */
export function repeatsOf(control: RequestControl | null): number {
  return control?.sentTwice === true ? 1 : 0;
}

const CUT_OFF = 'The host stopped in the middle of the response; the part that arrived is charged.';

/** Clients recognise this error by the words "maximum context length". */
function overWindow(model: HostCall['model']): string {
  const whose = model === undefined ? 'of this model' : `of ${model.id}, ${model.contextWindow} tokens`;
  return `The prompt exceeds the maximum context length ${whose}; its host does not say by how much. Shorten the prompt, or use a model with a larger \`context_window\` (GET /v1/models).`;
}

/** The caller's error for a host's error. It quotes the host only if the error is about the caller's own request. */
function errorForCaller(error: HostError, contentLeft: boolean, model: HostCall['model']): GatewayError {
  const { message, param, code } = error;
  switch (error.kind) {
    case 'over_window':
      return new GatewayError('host_context_length_exceeded', { message: message || overWindow(model), param });
    case 'request':
      return new GatewayError('host_refused_request', {
        message: message || 'The model refused this request.',
        param,
        ...(code !== null && { code }),
      });
    case 'rate':
      return new GatewayError('rate_limit_exceeded', {
        message: contentLeft ? CUT_OFF : 'Every host of this model is at its rate limit; try again shortly.',
        retryAfterS: 1,
      });
    default:
      return OVERLOADED.has(error.status) ? hostOverloaded(contentLeft) : hostFailed(contentLeft);
  }
}

/** A caller's own provider says when to try again; a 429 always has the header. */
function withRetryAfter(error: GatewayError, retryAfterMs: number | null): GatewayError {
  if (error.status !== 429 || error.retryAfterS !== null) return error;
  return error.with({ retryAfterS: Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1000)) });
}

/** Statuses that mean too many calls. 529 is used by one vendor only. */
const OVERLOADED: ReadonlySet<number> = new Set([503, 529]);

function hostOverloaded(contentLeft: boolean): GatewayError {
  const message = contentLeft
    ? CUT_OFF
    : 'The hosts of this model are overloaded; nothing was charged. Try again shortly.';
  return new GatewayError('overloaded', { message, retryAfterS: 1 });
}

export function hostFailed(contentLeft: boolean): GatewayError {
  const message = contentLeft
    ? CUT_OFF
    : 'The model could not be reached or did not respond; nothing was charged. Try again.';
  return new GatewayError('host_failed', { message });
}

/** Whether the body is compressed. We ask hosts not to: compression delays frames, and lengths would not match. */
export function isEncoded(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding !== 'identity';
}

export function compressedFault(): HostFault {
  const words = 'The host compressed its response although we asked it not to.';
  return { words, retryable: true, sign: HOST_FAILED };
}

export function isErrorStatus(status: number): boolean {
  return status !== 0 && (status < 200 || status >= 300);
}

/** Whether the status of an error says enough without its body. A 403 may be the page of a firewall, which is not about our key. */
export function isClearStatus(status: number): boolean {
  return isErrorStatus(status) && status !== 403;
}

export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return /^text\/event-stream/i.test(String(headers['content-type'] ?? ''));
}
