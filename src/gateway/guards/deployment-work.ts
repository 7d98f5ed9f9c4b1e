import { GatewayError } from '../../canonical/errors.ts';
import { weighJson } from '../../json/weight.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { WorkBudget } from './work-budget.ts';

/** A frame of a stream is parsed once and not written again, so it takes less time than its weight says. */
const SHORT_FRAME_DIVISOR = 4;
/** Short frames are charged when they add up to this, half a millisecond: what is less at the end of a stream is not charged. */
const STREAM_WORK_STEP = 5_000;

/**
 * Limits the work of reading what callers' own deployments send. Callers choose these hosts, which may send JSON that takes
 * half a minute to parse, while all other calls wait.
 */
export class DeploymentWork {
  /** By account. */
  readonly #budget: WorkBudget;

  constructor(clock: Clock) {
    const perSecond = LIMITS.deploymentWorkPerSecond;
    this.#budget = new WorkBudget(perSecond, perSecond * LIMITS.deploymentWorkBurstS, clock);
  }

  /** Why this JSON must not be parsed; null if it may be. */
  refusal(accountId: bigint, json: Buffer): GatewayError | null {
    // Most responses are too short to take long.
    if (json.length <= LIMITS.deploymentWorkFreeBytes) return null;
    return this.#charge(accountId, weighJson(json, LIMITS.deploymentWorkMax));
  }

  /** The same for the frames of one stream, of which short ones count too: they may be many. */
  ofStream(accountId: bigint): (frame: Buffer) => GatewayError | null {
    let owed = 0;
    return (frame) => {
      if (frame.length > LIMITS.deploymentWorkFreeBytes) return this.refusal(accountId, frame);
      owed += weighJson(frame, LIMITS.deploymentWorkMax) / SHORT_FRAME_DIVISOR;
      if (owed < STREAM_WORK_STEP) return null;
      const charged = owed;
      owed = 0;
      return this.#charge(accountId, charged);
    };
  }

  #charge(accountId: bigint, weight: number): GatewayError | null {
    if (weight <= LIMITS.deploymentWorkMax && this.#budget.take(accountId, weight)) return null;
    const [what, remedy] =
      weight > LIMITS.deploymentWorkMax
        ? ['too large, or has too many JSON values', 'Ask for less in one call']
        : ['larger than the responses of an account may be so shortly after others', 'Ask for less, or wait'];
    return new GatewayError('host_failed', { message: `The response of your deployment is ${what}. ${remedy}.` });
  }
}
