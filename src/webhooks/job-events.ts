import { GROUP_PREFIX, JOB_PREFIX, REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { Clock } from '../kit/clock.ts';
import { formatId } from '../kit/ids.ts';
import { Waker } from '../kit/waker.ts';
import { LIMITS } from '../limits.ts';
import type { HandedEvent, Job, JobEvent, JobGroup, JobStore } from '../store/jobs.ts';
import type { WebhookEvent } from '../store/webhooks.ts';
import type { WebhookStore } from './targets.ts';

interface JobEventTerms {
  readonly jobs: Pick<JobStore, 'events' | 'handOver' | 'find' | 'findGroup'>;
  readonly webhooks: Pick<WebhookStore, 'findWebhook'>;
  readonly ids: { next(): bigint };
  readonly clock: Clock;
  /** Something waits to be delivered. */
  nudge(): void;
  /** The store could not be read or written; it is tried again. */
  onError(error: unknown): void;
}

/**
 * Turns the ends of jobs and groups, which the ledger wrote in the commit that ended them, into deliveries of webhooks.
 * Several processes may do so: each event is handed over once.
 */
export class JobEvents {
  readonly #terms: JobEventTerms;
  readonly #waker: Waker;

  constructor(terms: JobEventTerms) {
    this.#terms = terms;
    this.#waker = new Waker(terms.clock, () => this.#look());
  }

  start(): void {
    this.#waker.wakeIn(LIMITS.webhookPollMs);
  }

  async stop(): Promise<void> {
    this.#waker.stop();
    await this.#waker.idle();
  }

  /** Hands over what has ended since; at most one page. Returns how many events there were. */
  async handOver(): Promise<number> {
    const events = await this.#terms.jobs.events(LIMITS.jobEventsAtOnce);
    if (events.length === 0) return 0;
    const handed: HandedEvent[] = [];
    for (const event of events) handed.push({ subjectId: event.subjectId, event: await this.#eventOf(event) });
    if ((await this.#terms.jobs.handOver(handed)) > 0) this.#terms.nudge();
    return events.length;
  }

  async #look(): Promise<number> {
    try {
      return (await this.handOver()) === LIMITS.jobEventsAtOnce ? 0 : LIMITS.webhookPollMs;
    } catch (error) {
      this.#terms.onError(error);
      return LIMITS.webhookPollMs;
    }
  }

  /** Null if nobody gets it: a job of a group has its group's event, and a webhook may have been removed. */
  async #eventOf({ subjectId, accountId, type, createdMs }: JobEvent): Promise<WebhookEvent | null> {
    const { jobs, webhooks, ids } = this.#terms;
    const isOfGroup = type === 'group.finished';
    const subject = isOfGroup ? await jobs.findGroup(subjectId, accountId) : await jobs.find(subjectId, accountId);
    if (subject === null || ('groupId' in subject && subject.groupId !== null)) return null;
    const dataJson = stringifyJson('groupId' in subject ? jobData(subject) : groupData(subject));
    const event = { id: ids.next(), accountId, type, dataJson, createdMs };
    if (subject.webhook === null) return event;
    const webhook = await webhooks.findWebhook(accountId, subject.webhook);
    return webhook === null ? null : { ...event, webhookId: webhook.id };
  }
}

/** Ids, state and cost; nothing of what was asked or answered. */
function jobData(job: Job): object {
  return {
    job: formatId(JOB_PREFIX, job.id),
    status: job.state,
    custom_id: job.customId,
    endpoint: job.endpoint,
    model: job.effectiveModel,
    attempts: job.attempts,
    cost_nanousd: job.costNanousd ?? 0n,
    request_id: job.callId === null ? null : formatId(REQUEST_PREFIX, job.callId),
    error_code: job.errorCode,
    finished_at: timeOr(job.finishedMs),
    result_expires_at: timeOr(job.resultExpiresMs),
  };
}

function groupData({ id, counts, lines, chargedNanousd, finishedMs }: JobGroup): object {
  return {
    group: formatId(GROUP_PREFIX, id),
    status: 'finished',
    counts: { total: lines, ...counts },
    cost_nanousd: chargedNanousd,
    finished_at: timeOr(finishedMs),
  };
}

function timeOr(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
