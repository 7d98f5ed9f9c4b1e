import { type Answer, type CallOptions, keyed, type Transport } from './transport.ts';
import type { Job, JobGroup, JobList, JobRequest } from './types.ts';

export interface JobQuery {
  readonly status?: string | undefined;
  readonly group?: string | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** Deferred jobs: calls that are accepted and reserved now, and made later. */
export interface Jobs {
  create(job: JobRequest, options?: CallOptions): Promise<Job>;
  /** `waitSeconds` is how many seconds the gateway may wait for the end of the job before it answers. */
  get(id: string, options?: CallOptions & { readonly waitSeconds?: number | undefined }): Promise<Job>;
  list(query?: JobQuery, options?: CallOptions): Promise<JobList>;
  /** What the call answered, with its receipt. */
  result<Data = unknown>(id: string, options?: CallOptions): Promise<Answer<Data>>;
  cancel(id: string, options?: CallOptions): Promise<Job>;
  /** Deletes the request and the result before their time. */
  remove(id: string, options?: CallOptions): Promise<unknown>;
  /** `maxCost` is for the whole group here. The client's is for single calls, so it is not sent. */
  createGroup(requests: readonly object[], options?: CallOptions): Promise<JobGroup>;
  group(id: string, options?: CallOptions): Promise<JobGroup>;
  cancelGroup(id: string, options?: CallOptions): Promise<JobGroup>;
  /** The results of a group as lines of JSON, to be read as they arrive. */
  groupResults(id: string, options?: CallOptions): Promise<Response>;
}

export function jobsOf(transport: Transport): Jobs {
  const at = (id: string, rest = '') => `/v1/jobs/${encodeURIComponent(id)}${rest}`;
  const group = (id: string, rest = '') => `/v1/jobs/groups/${encodeURIComponent(id)}${rest}`;
  const post = <Data>(path: string, body: object, options?: CallOptions) =>
    transport.own<Data>(path, { ...options, method: 'POST', body: JSON.stringify(body) });
  return {
    create: (job, options) => post('/v1/jobs', job, transport.keyed(options)),
    get: (id, { waitSeconds, ...options } = {}) =>
      transport.own(at(id, waitSeconds === undefined ? '' : `?wait=${waitSeconds}`), options),
    list: (query = {}, options) => transport.own(`/v1/jobs?${queryText(query)}`, options),
    result: (id, options) => transport.stored(at(id, '/result'), options),
    cancel: (id, options) => post(at(id, '/cancel'), {}, options),
    remove: (id, options) => transport.own(at(id), { ...options, method: 'DELETE' }),
    createGroup: (requests, options) => post('/v1/jobs/groups', { requests }, keyed({ ...options })),
    group: (id, options) => transport.own(group(id), options),
    cancelGroup: (id, options) => post(group(id, '/cancel'), {}, options),
    groupResults: (id, options = {}) => transport.send(group(id, '/results'), options),
  };
}

function queryText(query: JobQuery): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]): [string, string] => [name, String(value)]);
  return String(new URLSearchParams(texts));
}
