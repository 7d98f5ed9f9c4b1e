import type { Harness } from './harness.ts';
import { until } from './until.ts';

interface JobAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

interface BatchLine {
  readonly custom_id: string;
  readonly method: string;
  readonly url: string;
  readonly body: object;
}

export interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: Record<string, unknown>;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The routes of jobs, as a caller with this key uses them. */
export class JobCaller {
  readonly #harness: Harness;
  readonly #headers: Record<string, string>;

  constructor(harness: Harness, secret: string | null = null) {
    this.#harness = harness;
    this.#headers = secret === null ? {} : { authorization: `Bearer ${secret}` };
  }

  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<JobAnswer> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${this.#harness.url}/v1/jobs${path}`, {
      method,
      headers: { ...this.#headers, ...type, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /^application\/json(;|$)/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : { text } };
  }

  /** Submits a job that must be accepted, and returns its id. */
  async submit(fields: object, headers: Record<string, string> = {}): Promise<string> {
    const { status, body } = await this.ask('POST', '', fields, headers);
    if (status !== 202) throw new Error(`The job was not accepted: ${JSON.stringify(body)}`);
    return body.id as string;
  }

  async submitLines(lines: readonly BatchLine[], query = ''): Promise<string> {
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const { status, body } = await this.ask('POST', `/groups${query}`, text, { 'content-type': 'application/jsonl' });
    if (status !== 202) throw new Error(`The group was not accepted: ${JSON.stringify(body)}`);
    return body.id as string;
  }

  /** The job or group, once it has ended. */
  async ended(id: string): Promise<Record<string, unknown>> {
    let body: Record<string, unknown> = {};
    const path = id.startsWith('grp_') ? `/groups/${id}` : `/${id}`;
    await until(async () => {
      body = (await this.ask('GET', path)).body;
      return body.finished_at !== null;
    }, `${id} has ended`);
    return body;
  }

  async results(group: string, after = ''): Promise<ResultLine[]> {
    const { status, body } = await this.ask('GET', `/groups/${group}/results${after}`);
    if (status !== 200) throw new Error(`There are no results: ${JSON.stringify(body)}`);
    const lines = (body.text as string).split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as ResultLine);
  }
}

export const CHAT = '/v1/chat/completions';

export function chatBody(content: string, more: object = {}): object {
  return { model: 'sim-gpt-mini', messages: [{ role: 'user', content }], max_tokens: 16, ...more };
}

/** As the vendor's own guide shows a batch file. */
export function batchLine(id: string, content = 'Hello world!', more: object = {}): BatchLine {
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content },
  ];
  const body = { model: 'sim-gpt-mini', messages, max_tokens: 1_000, ...more };
  return { custom_id: id, method: 'POST', url: CHAT, body };
}

/** A job and a group of one that wait for an hour. */
export async function submitJobs(harness: Harness, secret: string): Promise<{ job: string; job_group: string }> {
  const caller = new JobCaller(harness, secret);
  const later = new Date(harness.running.gateway.clock.nowMs() + 3_600_000).toISOString();
  const job = await caller.submit({ endpoint: CHAT, body: chatBody('Hello'), not_before: later });
  const query = `?not_before=${encodeURIComponent(later)}`;
  return { job, job_group: await caller.submitLines([batchLine('one')], query) };
}
