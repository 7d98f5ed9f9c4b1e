import type { GatewayError } from '../canonical/errors.ts';
import type { Ended, HostTry } from '../canonical/receipt.ts';
import type { UsageReading } from '../canonical/usage.ts';

/** What a relay returns, whatever happened. Relays never throw. */
export interface Outcome {
  readonly ended: Exclude<Ended, 'died'>;
  readonly httpStatus: number;
  readonly usage: UsageReading;
  /** The client was gone and the host was read to its end, so the usage is the host's own. */
  readonly drained: boolean;
  /** At least one byte of the model's output was sent to the client. */
  readonly contentLeft: boolean;
  /** UTF-8 bytes of the model's own text, reasoning and tool arguments that were relayed (buffered: received). */
  readonly relayedBytes: number;
  readonly host: string | null;
  readonly attempts: number;
  readonly error: GatewayError | null;
  /** The host refused the request without doing work, so it bills nothing. */
  readonly turnedAway?: boolean;
  /** Every attempt, if there was more than one. */
  readonly tries?: readonly HostTry[];
  /** How many attempts before the last a host may bill; if absent, all of them. */
  readonly billableTries?: number;
  /** How many requests were sent again although the host may bill the first copy. */
  readonly repeats?: number;
  /**
   * The client hung up, and the account's loss allowance did not cover cancelling the host: it was read to its end, and
   * `relayedBytes` is what it sent.
   */
  readonly readToEnd?: boolean;
  /** How the request to the host differs from the caller's; null or absent if it does not. */
  readonly adjusted?: string | null;
  /** When the first content of a stream came, in whole milliseconds from the hold; null or absent if none did. */
  readonly firstByteMs?: number | null;
}
