import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../json/json.ts';
import { isAbsent, isObject, type Members } from './members.ts';

/** The budget of a request, by the name that most wires have for it. */
export const BUDGET = 'reasoning.max_tokens';

/** A budget limits what a call costs, so it must not get lost where a host takes neither a budget nor an effort. */
export function refuseLostBudget(asked: { readonly budgetTokens: number | null } | null, param = BUDGET): void {
  if (asked === null || asked.budgetTokens === null) return;
  throw new GatewayError('unsupported_parameter', {
    param,
    message: `\`${param}\` is not supported by this model's host, which takes neither a budget nor an effort; leave it out.`,
  });
}

/** Whether the request has a budget that a host of its own wire does not get as it is. */
export function mayLoseBudget({ value }: JsonText): boolean {
  const { reasoning } = value as Members;
  return isObject(reasoning) && !isAbsent(reasoning.max_tokens);
}
