import type { Caller } from '../../accounts/authenticate.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { BodyMemory } from '../../gateway/guards/body-memory.ts';
import type { CallSlots } from '../../gateway/guards/call-slots.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { Clock } from '../../kit/clock.ts';
import type { WebhookTargets } from '../../webhooks/targets.ts';
import type { CallerLists } from '../caller-lists.ts';
import { invalid } from '../field-errors.ts';
import type { GroupPlaces } from './group-places.ts';

export interface JobRouteServices {
  readonly jobs: Jobs;
  /** The billed routes, like `/v1/messages`. */
  readonly endpoints: readonly string[];
  /** For groups that are sent. */
  readonly intakePlaces: GroupPlaces;
  /** For results of groups that are read. */
  readonly resultPlaces: GroupPlaces;
  /** For results of single jobs that are read. */
  readonly resultMemory: BodyMemory;
  readonly lists: CallerLists;
  /** For requests that wait for the end of a job. */
  readonly slots: Pick<CallSlots, 'during'>;
  readonly webhooks: Pick<WebhookTargets, 'find'>;
  readonly clock: Clock;
}

/** Refuses a name that no webhook of the account has: nobody would get the event. */
export async function checkWebhook(
  { webhooks }: Pick<JobRouteServices, 'webhooks'>,
  { accountId }: Caller,
  name: string | null,
): Promise<void> {
  if (name === null) return;
  try {
    await webhooks.find(accountId, name);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.kind !== 'webhook_not_found') throw error;
    throw invalid('webhook', "must be the name of one of the account's webhooks; see GET /v1/webhooks");
  }
}
