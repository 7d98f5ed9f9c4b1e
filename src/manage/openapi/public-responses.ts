import { z } from 'zod';
import type { BalanceView } from '../../canonical/balance-view.ts';
import type { ReceiptView } from '../../canonical/receipt-view.ts';
import type { JobGroupView, JobView } from '../../operator/job-view.ts';
import { balance } from '../resources/accounts.ts';
import { group, job } from '../resources/jobs.ts';
import { providerKey } from '../resources/provider-keys.ts';
import { receipt } from '../resources/receipts.ts';
import { signedReceipt } from '../resources/signed-receipts.ts';
import { row, usage } from '../resources/usage.ts';
import { delivery, newWebhook, webhook } from '../resources/webhooks.ts';
import { listOf, nanousd } from '../schema-fields.ts';
import { described } from './described.ts';
import { model, modelList } from './model-schemas.ts';

/** What callers see of a thing is what the management API shows of it, without its owner and what only operators see. */
const OWNER = { account: true, key: true, person: true } as const;

const callersJob = described<JobView>()(job.omit(OWNER).meta({ id: 'CallerJob' }));
const callersGroup = described<JobGroupView>()(group.omit(OWNER).meta({ id: 'CallerJobGroup' }));
const callersBalance = described<BalanceView>()(
  balance.omit({ account: true, name: true }).meta({ id: 'CallerBalance' }),
);
const callersReceipt = described<ReceiptView>()(
  receipt
    .omit({ account: true, duration_ms: true, host: true, attempts: true, tries: true, loss: true })
    .meta({ id: 'CallerReceipt' }),
);
const callersUsageRow = row
  .omit({ account: true, account_name: true, person: true, person_email: true, host: true })
  .meta({ id: 'CallerUsageRow' });

const quote = z
  .object({
    object: z.literal('quote'),
    model: z.string(),
    worst_case_nanousd: nanousd.describe('What the call would hold.'),
    components: z.object({ input: nanousd, output: nanousd }),
    bounds: z.object({ bytes_nanousd: nanousd, counted_nanousd: nanousd.nullable() }),
    likely_nanousd: nanousd,
    fits: z.object({ ceiling: z.boolean(), cap: z.boolean(), balance: z.boolean() }),
  })
  .meta({ id: 'Quote' });

/** A list that is always whole. */
function wholeListOf<Row extends z.ZodType>(each: Row) {
  return z.object({ object: z.literal('list'), data: z.array(each).readonly() });
}

const gone = { status: z.literal('removed'), deleted: z.literal(true) };

/** The successful responses of callers' routes whose bodies are our own, by the id of the route. */
export const PUBLIC_ANSWERS: Readonly<Record<string, z.ZodType>> = {
  quote,
  catalog: modelList,
  models: modelList,
  model,
  balance: callersBalance,
  receipts: listOf(callersReceipt).extend({ has_more: z.boolean() }),
  receipt: z.union([callersReceipt, signedReceipt]),
  usage: usage.extend({ data: z.array(callersUsageRow).readonly() }).meta({ id: 'CallerUsage' }),
  receiptRefunds: wholeListOf(signedReceipt),
  storedKeys: wholeListOf(providerKey),
  storedKey: providerKey,
  storeKey: providerKey,
  removeStoredKey: z.object({ object: z.literal('provider_key'), provider: z.string(), ...gone }),
  webhooks: wholeListOf(webhook),
  webhook,
  putWebhook: newWebhook,
  rotateWebhook: newWebhook,
  testWebhook: delivery,
  webhookDeliveries: listOf(delivery),
  removeWebhook: z.object({ object: z.literal('webhook'), name: z.string(), ...gone }),
  submitJob: callersJob,
  job: callersJob,
  cancelJob: callersJob,
  removeJob: callersJob,
  jobs: listOf(callersJob).extend({ has_more: z.boolean() }),
  submitJobGroup: callersGroup,
  jobGroup: callersGroup,
  cancelJobGroup: callersGroup,
  jobGroups: listOf(callersGroup).extend({ has_more: z.boolean() }),
};
