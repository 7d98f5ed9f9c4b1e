import { z } from 'zod';
import { invalidMember, OperatorError } from './error.ts';
import { seconds } from './input.ts';
import type { OperatorServices } from './services.ts';

const DAY_S = 86_400;

export const hostLossesInput = z.strictObject({
  since: seconds
    .nullable()
    .default(null)
    .describe('Only calls requested at this time or later; by default, a day before `until`.'),
  until: seconds.nullable().default(null).describe('Only calls requested before this time; by default, now.'),
});

interface HostLossView {
  readonly host: string | null;
  readonly reason: string | null;
  readonly calls: number;
  readonly loss_nanousd: bigint;
}

interface HostLossesView {
  readonly object: 'host_losses';
  readonly since: number;
  readonly until: number;
  /** False if the period has more receipts than were read: the oldest are missing. */
  readonly complete: boolean;
  readonly data: readonly HostLossView[];
}

export async function reportHostLosses(
  { store, clock }: OperatorServices,
  input: z.output<typeof hostLossesInput>,
): Promise<HostLossesView> {
  const until = input.until ?? Math.ceil(clock.nowMs() / 1000);
  const since = input.since ?? until - DAY_S;
  if (since >= until) throw invalidMember('since', 'must be before until.');
  const found = await store.usage.hostLosses({ sinceMs: since * 1000, untilMs: until * 1000 });
  if (found === 'busy') throw new OperatorError('rate_limit_exceeded', 'Another report is running. Try again shortly.');
  const data = found.losses.map(({ host, reason, calls, lossNanousd }) => ({
    ...{ host, reason, calls },
    loss_nanousd: lossNanousd,
  }));
  return { object: 'host_losses', since, until, complete: found.isComplete, data };
}
