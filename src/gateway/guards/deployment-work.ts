import { GatewayError } from '../../canonical/errors.ts';
import { weighJson } from '../../json/weight.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { WorkBudget } from './work-budget.ts';

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
    const weight = weighJson(json, LIMITS.deploymentWorkMax);
    if (weight <= LIMITS.deploymentWorkMax && this.#budget.take(accountId, weight)) return null;
    const [what, remedy] =
      weight > LIMITS.deploymentWorkMax
        ? ['too large, or has too many JSON values', 'Ask for less in one call']
        : ['larger than the responses of an account may be so shortly after others', 'Ask for less, or wait'];
    return new GatewayError('host_failed', { message: `The response of your deployment is ${what}. ${remedy}.` });
  }
}
