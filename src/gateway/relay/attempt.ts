import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import type { AnswerReceiver, RequestControl } from '../../hosts/directory.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Bill, ClientHalf, HostError } from '../../wires/wire.ts';
import type { ClientSink } from '../client-sink.ts';
import type { Outcome } from '../outcome.ts';
import type { Passage } from '../passage.ts';
import type { Shutdown } from '../shutdown.ts';

/** Time limits of a call; each can be set in the config file. */
export interface CallLimits {
  readonly firstFrameMs: number;
  readonly idleMs: number;
  readonly bufferedMs: number;
  readonly streamMs: number;
  readonly keepAliveMs: number;
  readonly stallMs: number;
  readonly drainMs: number;
}

/** Everything one try at one host needs to know. */
export interface AttemptTerms {
  readonly passage: Passage;
  /** The caller's own wire: its errors and keep-alives. */
  readonly client: ClientHalf;
  readonly requestId: string;
  /** Sends the request to the host of this attempt. */
  send(receiver: AnswerReceiver): RequestControl;
  /** Takes our key for this host out of whatever the host says. */
  hideKey(text: string): string;
  readonly onClientGone: 'drain' | 'cancel';
  readonly sink: ClientSink;
  /** Headers that stand in every answer to this call. */
  readonly headers: Record<string, string>;
  readonly limits: CallLimits;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
}

type Seen = Omit<Outcome, 'host' | 'attempts'>;

/** What one try came to. `deliver` sends what was withheld until the money was settled. */
export interface AttemptResult extends Seen {
  /** Nothing reached the client and another host may do better. */
  readonly retryable: boolean;
  /** What went wrong at the host, for the operator's log. */
  readonly hostFault: string | null;
  deliver(bill: Bill, costHeaders: Record<string, string>): void;
}

/** The status of a call whose client had gone, as other servers log it; no client ever sees it. */
export const CLIENT_GONE_STATUS = 499;

/** A failure of the host, in our own words: the host's may quote the prompt, or our key. */
export interface HostFault {
  readonly words: string;
  /** It refused our key or was not there at all. */
  readonly turnedAway?: boolean;
  /** Another host may do better. */
  readonly retryable: boolean;
}

export function faultOf({ kind, status, code }: HostError): HostFault {
  const named = code !== null && /^[\w.-]{1,64}$/.test(code) ? ` ${code}` : '';
  return {
    words: `${kind} ${status}${named}`,
    retryable: kind !== 'over_window' && kind !== 'request',
    turnedAway: kind === 'credentials',
  };
}

const BROKEN_OFF = 'The model broke off in the middle of its answer; what had arrived is charged.';

/** What a caller is told about a host's error: its words only where they are about the caller's own request. */
export function errorForCaller(error: HostError, { hideKey }: AttemptTerms, contentLeft: boolean): GatewayError {
  const { param, code } = error;
  const message = hideKey(error.message);
  switch (error.kind) {
    case 'over_window':
      return new GatewayError('host_context_length_exceeded', { message, param });
    case 'request':
      return new GatewayError('host_refused_request', {
        message: message || 'The model refused this request.',
        param,
        code,
      });
    case 'rate':
      return new GatewayError('rate_limit_exceeded', {
        message: contentLeft ? BROKEN_OFF : 'Every host of this model is at its rate limit; try again shortly.',
        retryAfterS: 1,
      });
    default:
      return hostFailed(contentLeft);
  }
}

export function hostFailed(contentLeft: boolean): GatewayError {
  const message = contentLeft
    ? BROKEN_OFF
    : 'The model could not be reached or gave no answer; nothing was charged. Try again.';
  return new GatewayError('host_failed', { message });
}

/** A host must not compress: frames would have to wait in its compressor, and lengths would lie. */
export function isEncoded(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding !== 'identity';
}
