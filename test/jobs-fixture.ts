import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { JobContents } from '../src/jobs/contents.ts';
import { JobHousekeeping } from '../src/jobs/housekeeping.ts';
import { type JobServices, type RunEnd, run } from '../src/jobs/job.ts';
import { JobService } from '../src/jobs/job-service.ts';
import { JobSink } from '../src/jobs/job-sink.ts';
import type { Accepted, Job, JobReader, JobRequest, JobTerms, SingleSubmission } from '../src/jobs/jobs.ts';
import { PinnedPrices } from '../src/jobs/pinned-prices.ts';
import { JobWaiters } from '../src/jobs/waiters.ts';
import { formatId } from '../src/kit/ids.ts';
import { WIRES } from '../src/wires/registry.ts';
import { ask, type Body, GatewayFixture, type GatewayOptions } from './gateway-fixture.ts';

export const ANY_READER: JobReader = { accountId: 1n, keyId: null, personId: null };

export const PLAIN_TERMS: JobTerms = {
  notBeforeMs: null,
  expiresMs: null,
  resultTtlMs: null,
  onUnknown: 'fail',
  webhook: null,
  metadata: null,
};

const LEASE_MS = 30_000;

/** Jobs over a gateway without ports: a test claims and runs each job itself. */
export class JobsFixture {
  readonly on: GatewayFixture;
  readonly services: JobServices;
  readonly jobs: JobService;
  readonly housekeeping: JobHousekeeping;
  readonly waiters = new JobWaiters();
  readonly ended: string[] = [];
  /** Ids that the worker was asked to cancel. */
  readonly cancelled: bigint[] = [];

  private constructor(on: GatewayFixture) {
    this.on = on;
    const { gateway, store, ledger, clock } = on;
    this.services = {
      gateway,
      ledger,
      store: store.jobs,
      contents: new JobContents(gateway.sealer, store.jobs),
      prices: new PinnedPrices(store, () => on.gateway.prices()),
      endpoints: new Map([
        ['/v1/chat/completions', WIRES.chat!],
        ['/v1/messages', WIRES.messages!],
      ]),
      findKey: (id) => store.findKey(id),
      yieldToCalls: async () => {},
      random: () => 1,
    };
    const onEnded = (id: bigint, state: string): void => void this.ended.push(`${formatId('job_', id)} ${state}`);
    this.jobs = new JobService({
      services: this.services,
      worker: { nudge: () => {}, cancel: (id) => void this.cancelled.push(id) },
      waiters: this.waiters,
      onEnded,
    });
    // The memory driver does not delete old rows.
    const terms = { services: this.services, store: Object.assign(store.jobs, { sweep: async () => 0 }), clock };
    this.housekeeping = new JobHousekeeping({
      ...terms,
      onEnded,
      onError: (error) => {
        throw error;
      },
    });
  }

  static async open(options: GatewayOptions = {}): Promise<JobsFixture> {
    return new JobsFixture(await GatewayFixture.open(options));
  }

  submission(body: Buffer, headers: IncomingHttpHeaders = {}): SingleSubmission {
    const id = this.on.gateway.ids.next();
    const { caller, clock } = this.on;
    const bodySha256 = createHash('sha256').update(body).digest();
    return { id, requestId: formatId('req_', id), caller, headers, startedMs: clock.monotonicMs(), bodySha256 };
  }

  submit(
    body: Body = ask(),
    terms: Partial<JobTerms> = {},
    headers: IncomingHttpHeaders = {},
    more: Partial<JobRequest> = {},
  ): Promise<Accepted<Job>> {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const request = { endpoint: '/v1/chat/completions', body: bytes, customId: null, ...more };
    return this.jobs.submit(this.submission(bytes, headers), request, { ...PLAIN_TERMS, ...terms });
  }

  async claim(): Promise<Job> {
    const [job] = await this.services.store.claim(1n, this.on.clock.nowMs(), LEASE_MS, 1);
    if (job === undefined) throw new Error('No job is due.');
    return job;
  }

  /** Claims the next job and begins to run it; the host's part is up to the test. */
  async begin(): Promise<{ readonly job: Job; readonly sink: JobSink; readonly done: Promise<RunEnd> }> {
    const job = await this.claim();
    const sink = new JobSink();
    return { job, sink, done: run(this.services, job, sink) };
  }

  find(id: bigint): Promise<Job> {
    return this.jobs.find(ANY_READER, id);
  }

  async account(): Promise<{ balanceNanousd: bigint; heldNanousd: bigint; reservedNanousd: bigint }> {
    return (await this.on.store.findAccount(1n)) as never;
  }
}
