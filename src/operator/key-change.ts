import type { z } from 'zod';
import type { KeyChange } from '../store/store.ts';
import { OperatorError } from './error.ts';
import type { keyUpdate } from './input.ts';

/** The settings that the operator named; `models` are the resolved ids of the models among them. */
export function keyChangeOf(input: z.output<typeof keyUpdate>, models: readonly string[] | null): KeyChange {
  const change: KeyChange = {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.spend_cap_nanousd !== undefined && { capNanousd: input.spend_cap_nanousd }),
    ...(input.window !== undefined && { capWindow: input.window }),
    ...(input.expires_at !== undefined && { expiresMs: input.expires_at === null ? null : input.expires_at * 1000 }),
    ...(input.models !== undefined && { models }),
    ...(input.allow !== undefined && { allow: input.allow }),
    ...(input.deny !== undefined && { deny: input.deny }),
    ...(input.note !== undefined && { note: input.note }),
    ...(input.max_cost_nanousd !== undefined && { maxCostNanousd: input.max_cost_nanousd }),
    ...(input.on_unsupported !== undefined && { onUnsupported: input.on_unsupported }),
  };
  if (Object.keys(change).length === 0)
    throw new OperatorError('invalid_input', 'Name at least one setting to change.');
  refuseAllowedAndDenied(change);
  return change;
}

function refuseAllowedAndDenied({ allow = [], deny = [] }: KeyChange): void {
  const both = allow.find((permission) => deny.includes(permission));
  if (both !== undefined)
    throw new OperatorError('invalid_input', `${both} is in both allow and deny. Name it in only one of them.`);
}
