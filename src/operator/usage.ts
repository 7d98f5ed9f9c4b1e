import { z } from 'zod';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { UsageFilter } from '../store/usage-report.ts';
import type { UsageStore } from '../store/usage-store.ts';
import { invalidMember, OperatorError } from './error.ts';
import { idOrName, STORABLE, seconds, toMs } from './input.ts';
import { accountNamed, keyIn, personIn } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type AskedUsage, InvalidUsageQuery, readUsageQuery, USAGE_BUCKETS } from './usage-query.ts';
import { type UsageView, usageView } from './usage-view.ts';

export { InvalidUsageQuery, splitWords } from './usage-query.ts';
export type { UsageRowView } from './usage-view.ts';

const words = z.string().max(LIMITS.usageWordsCharsMax);
const text = z
  .string()
  .min(1)
  .max(LIMITS.modelIdCharsMax)
  .refine(...STORABLE);

export const usageInput = z.strictObject({
  since: seconds
    .nullable()
    .default(null)
    .describe(
      'Only calls created at this time or later, rounded down to the hour; by default, 30 days before `until`.',
    ),
  until: seconds
    .nullable()
    .default(null)
    .describe('Only calls created before this time, rounded up to the hour; by default, now.'),
  bucket: z.enum(USAGE_BUCKETS).default('none'),
  group_by: words
    .default('')
    .describe('A list of account, key, person, model, route, host, and chain or label:<name>.'),
  metrics: words
    .nullable()
    .default(null)
    .describe('A list of requests, tokens, cost, refunds, refused, first_byte, duration; by default, all of them.'),
  account: idOrName.nullable().default(null),
  key: idOrName.nullable().default(null),
  /** By id or email address. */
  person: idOrName.nullable().default(null),
  model: text.nullable().default(null),
  route: text.nullable().default(null),
  host: text.nullable().default(null),
});

export async function reportUsage(services: OperatorServices, input: z.output<typeof usageInput>): Promise<UsageView> {
  try {
    return await usageReport(
      { usage: services.store.usage, clock: services.clock },
      {
        sinceMs: toMs(input.since),
        untilMs: toMs(input.until),
        bucket: input.bucket,
        groupBy: input.group_by,
        metrics: input.metrics,
        filter: await filterOf(services, input),
      },
    );
  } catch (error) {
    if (error instanceof InvalidUsageQuery) throw invalidMember(error.param, `${error.must}.`);
    if (error instanceof UsageBusy) throw new OperatorError('rate_limit_exceeded', error.message);
    throw error;
  }
}

async function filterOf(services: OperatorServices, input: z.output<typeof usageInput>): Promise<UsageFilter> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const key = await keyIn(services, input.key, account);
  const person = input.person === null ? null : await personIn(services, input.person, account);
  return {
    // A key belongs to one account, whose calls are found quickly.
    accountId: account?.id ?? key?.accountId ?? null,
    keyId: key?.id ?? null,
    personId: person?.id ?? null,
    model: input.model,
    route: input.route,
    host: input.host,
  };
}

/** Too many reports are running. */
export class UsageBusy extends Error {
  override readonly name = 'UsageBusy';

  constructor() {
    super('Too many usage reports are running. An account has one at a time. Try again shortly.');
  }
}

export interface UsageServices {
  readonly usage: Pick<UsageStore, 'report'>;
  readonly clock: Clock;
}

/** The report; throws an InvalidUsageQuery if it cannot be made, and UsageBusy if it cannot be made now. */
export async function usageReport({ usage, clock }: UsageServices, asked: AskedUsage): Promise<UsageView> {
  const read = readUsageQuery(asked, clock);
  const rows = await usage.report(read.query);
  if (rows === 'too_many_rows')
    throw new InvalidUsageQuery(
      'group_by',
      `gives more than ${LIMITS.usageRowsMax} rows. Use a longer bucket, fewer groups, or a shorter period`,
    );
  if (rows === 'too_many_receipts')
    throw new InvalidUsageQuery(
      'since',
      `must be later: a report by chain or label reads the receipts, and this period has too many. At most ${LIMITS.usageReceiptsMax} are read`,
    );
  if (rows === 'too_slow')
    throw new InvalidUsageQuery(
      'since',
      `must be later: the database took more than ${LIMITS.usageStatementMs / 1000} seconds for this report`,
    );
  if (rows === 'busy') throw new UsageBusy();
  return usageView(read, rows);
}
