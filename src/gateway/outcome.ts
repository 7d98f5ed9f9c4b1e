import type { GatewayError } from '../canonical/errors.ts';
import type { Ended, HostTry } from '../canonical/receipt.ts';
import type { UsageReading } from '../canonical/usage.ts';

/** What a relay saw, whatever happened: it returns one of these and never throws. */
export interface Outcome {
  readonly ended: Exclude<Ended, 'died'>;
  readonly httpStatus: number;
  readonly usage: UsageReading;
  /** The client was gone and the host was heard out, so the usage is its own. */
  readonly drained: boolean;
  /** At least one byte of the model's answer went to the client. */
  readonly contentLeft: boolean;
  /** UTF-8 bytes of the model's own text, reasoning and tool arguments that were relayed (buffered: received). */
  readonly relayedBytes: number;
  readonly host: string | null;
  readonly attempts: number;
  readonly error: GatewayError | null;
  /** The host turned the request away instead of working on it, so it bills nothing. */
  readonly turnedAway?: boolean;
  /** Every attempt, where there was more than one. */
  readonly tries?: readonly HostTry[];
  /** Attempts before the last that a host may have worked on, and bill; absent: all of them. */
  readonly billableTries?: number;
  /** Requests that were sent a second time after the host may have begun to work on the first, and bill it. */
  readonly repeats?: number;
}
