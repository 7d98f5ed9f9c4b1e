import type { BadRequest, KeyHolder } from '../bad-requests/bad-class.ts';
import { goodBody } from '../bad-requests/good-body.ts';
import type { Random } from '../random.ts';

/** A way for a submission to be bad, and the answer that it must get. */
export interface BadJobClass {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  readonly type?: string;
  readonly key?: KeyHolder;
  make(random: Random): BadSubmission;
}

export interface BadSubmission extends BadRequest {
  /** What the message begins with, for a line of a group. */
  readonly begins?: string;
}

export type Fields = Record<string, unknown>;

export const NOW_MS = Date.now();
export const DAY_MS = 86_400_000;

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** A body for a job: not a stream. */
export function jobBody(random: Random): Fields {
  const { stream, stream_options, ...body } = goodBody(random);
  return body;
}

export function goodJob(random: Random): Fields {
  const job: Fields = { endpoint: '/v1/chat/completions', body: jobBody(random) };
  if (random.chance(0.2)) job.custom_id = `id-${random.below(1_000)}`;
  if (random.chance(0.2)) job.metadata = { run: 'nightly' };
  if (random.chance(0.2)) job.on_unknown = random.pick(['fail', 'retry']);
  if (random.chance(0.2)) job.result_ttl_seconds = random.between(1, 1_000);
  if (random.chance(0.2)) job.expires_at = iso(NOW_MS + DAY_MS);
  return job;
}

export function goodLine(random: Random, at: number): Fields {
  return { custom_id: `line-${at}`, method: 'POST', url: '/v1/chat/completions', body: jobBody(random) };
}

/** A group whose lines are good except one, which is given as text. */
export function groupWith(random: Random, bad: string, params: BadRequest['param']): BadSubmission {
  const lines = Array.from({ length: random.between(1, 6) }, (_, at) => JSON.stringify(goodLine(random, at)));
  const place = random.below(lines.length + 1);
  lines.splice(place, 0, bad);
  return {
    param: params,
    path: '/v1/jobs/groups',
    headers: { 'content-type': 'application/jsonl' },
    body: lines.join('\n'),
    begins: `Line ${place + 1}: `,
  };
}
