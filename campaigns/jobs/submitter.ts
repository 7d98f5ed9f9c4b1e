import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Job, JobRequest, JobTerms } from '../../src/jobs/jobs.ts';
import { formatId } from '../../src/kit/ids.ts';
import type { Running } from '../../src/main/start.ts';
import type { SimScript } from '../../src/sim/sim.ts';

export const MODEL = 'sim-gpt';

export const PLAIN_TERMS: JobTerms = {
  notBeforeMs: null,
  expiresMs: null,
  resultTtlMs: null,
  onUnknown: 'fail',
  webhook: null,
  metadata: null,
};

/** Whose key submits a job. */
export interface Submitter {
  readonly accountId: bigint;
  readonly keyId: bigint;
}

export interface Submitted {
  readonly label: string;
  readonly sim?: SimScript;
  readonly terms?: Partial<JobTerms>;
  readonly headers?: IncomingHttpHeaders;
  readonly maxTokens?: number;
}

/** Submits a job to a gateway of this process. The host sees the label as the prompt. */
export async function submitJob(running: Running, { accountId, keyId }: Submitter, job: Submitted): Promise<Job> {
  const { books, gateway, jobs } = running;
  const { label, sim = {}, maxTokens = 20 } = job;
  const body = Buffer.from(
    JSON.stringify({ model: MODEL, max_tokens: maxTokens, messages: [{ role: 'user', content: label }], sim }),
  );
  const id = books.ids.next();
  const submission = {
    id,
    requestId: formatId('req_', id),
    caller: { accountId, keyId, key: await books.store.findKey(keyId) },
    headers: job.headers ?? {},
    startedMs: gateway.clock.monotonicMs(),
    bodySha256: createHash('sha256').update(body).digest(),
  };
  const request: JobRequest = { endpoint: '/v1/chat/completions', body, customId: label };
  return (await jobs.submit(submission, request, { ...PLAIN_TERMS, ...job.terms })).accepted;
}

/** The cost that the header of a stored response names. */
export function costOfLines(lines: string): bigint | null {
  const cost = /^x-gateway-cost-nanousd: (\d+)\r$/m.exec(lines)?.[1];
  return cost === undefined ? null : BigInt(cost);
}
