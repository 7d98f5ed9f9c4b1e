import type { JsonObject } from './json.ts';
import { type Answer, type CallOptions, keyed, pathOf, pathWith, type Transport } from './transport.ts';
import type { GroupRequest, GroupResult, GroupTerms, Job, JobGroup, JobRequest, JobStatus, Page } from './types.ts';

export interface PageQuery {
  /** The `next` of the previous page. */
  readonly after?: string | null | undefined;
  readonly limit?: number | undefined;
}

export interface JobQuery extends PageQuery {
  readonly status?: JobStatus | undefined;
  readonly group?: string | undefined;
}

/** Deferred jobs: calls that are accepted and reserved now, and made later. */
export interface Jobs {
  create(job: JobRequest, options?: CallOptions): Promise<Job>;
  /** `waitSeconds` is how many seconds the gateway may wait for the end of the job before it answers. */
  get(id: string, options?: CallOptions & { readonly waitSeconds?: number | undefined }): Promise<Job>;
  list(query?: JobQuery, options?: CallOptions): Promise<Page<Job>>;
  /** What the call answered, with its receipt. */
  result<Data = unknown>(id: string, options?: CallOptions): Promise<Answer<Data>>;
  cancel(id: string, options?: CallOptions): Promise<Job>;
  /** Deletes the request and the result before their time. */
  remove(id: string, options?: CallOptions): Promise<unknown>;
  /**
   * All of them, or none. Give an object instead of a list to set `webhook` and other terms of the group. `maxCost` is for
   * the whole group here. The client's is for single calls, so it is not sent.
   */
  createGroup(
    group: readonly GroupRequest[] | (GroupTerms & { readonly requests: readonly GroupRequest[] }),
    options?: CallOptions,
  ): Promise<JobGroup>;
  group(id: string, options?: CallOptions): Promise<JobGroup>;
  groups(query?: PageQuery, options?: CallOptions): Promise<Page<JobGroup>>;
  cancelGroup(id: string, options?: CallOptions): Promise<JobGroup>;
  /**
   * The results of a group that has ended, in the order of its requests, as they arrive. If reading breaks off, go on with
   * the `id` of the last one as `after`.
   */
  groupResults<Data = JsonObject>(
    id: string,
    options?: CallOptions & { readonly after?: string | null | undefined },
  ): AsyncIterable<GroupResult<Data>>;
}

export function jobsOf(transport: Transport): Jobs {
  const at = (id: string, rest?: string) => pathOf('jobs', id, rest);
  const group = (id: string, rest?: string) => pathOf('jobs/groups', id, rest);
  return {
    create: (job, options) => transport.post('/v1/jobs', job, transport.keyed(options)),
    get: (id, { waitSeconds, ...options } = {}) => transport.own(pathWith(at(id), { wait: waitSeconds }), options),
    list: (query, options) => transport.own(pathWith('/v1/jobs', query), options),
    result: (id, options) => transport.stored(at(id, '/result'), options),
    cancel: (id, options) => transport.post(at(id, '/cancel'), {}, options),
    remove: (id, options) => transport.own(at(id), { ...options, method: 'DELETE' }),
    createGroup: (given, options) =>
      transport.post('/v1/jobs/groups', Array.isArray(given) ? { requests: given } : given, keyed({ ...options })),
    group: (id, options) => transport.own(group(id), options),
    groups: (query, options) => transport.own(pathWith('/v1/jobs/groups', query), options),
    cancelGroup: (id, options) => transport.post(group(id, '/cancel'), {}, options),
    groupResults: (id, { after, ...options } = {}) =>
      transport.lines(pathWith(group(id, '/results'), { after }), options),
  };
}
