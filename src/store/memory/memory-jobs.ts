import { LIMITS } from '../../limits.ts';
import { FINAL_JOB_STATES, type Job, type JobFilter, type JobStore, type NewJob, NOT_STARTED } from '../jobs.ts';
import { byId, type MemoryJob, type MemoryRows } from './memory-rows.ts';

/** Jobs as far as money depends on them. Tests of contents, cleaning up and webhooks use SQLite. */
type MoneyOfJobs = Omit<JobStore, 'resealChunk' | 'sweep' | 'handOver' | 'events' | 'resumePaused'>;

export function memoryJobs(rows: MemoryRows): JobStore {
  return new MemoryJobs(rows) as MoneyOfJobs as JobStore;
}

/** What waiting jobs of the account have reserved, from their rows. */
export function reservedOf(rows: MemoryRows, accountId: bigint): bigint {
  return [...rows.jobs.values()].reduce((sum, job) => {
    const isAccepted = job.groupId !== null && rows.jobGroups.get(job.groupId)?.acceptedMs != null;
    const isWaiting = job.state === 'queued' || job.state === 'paused' || (job.state === 'staged' && isAccepted);
    return isWaiting && job.accountId === accountId ? sum + job.reservedNanousd : sum;
  }, 0n);
}

class MemoryJobs implements MoneyOfJobs {
  readonly #rows: MemoryRows;

  constructor(rows: MemoryRows) {
    this.#rows = rows;
  }

  createGroup: JobStore['createGroup'] = async (group) => {
    this.#rows.jobGroups.set(group.id, {
      ...group,
      acceptedMs: null,
      isActive: false,
      finishedMs: null,
      lines: 0,
      bytes: 0,
      reservedNanousd: 0n,
      chargedNanousd: 0n,
      windowId: null,
      personWindowId: null,
      counts: { waiting: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, expired: 0 },
    });
  };

  stage: JobStore['stage'] = async (jobs, chunks) => {
    for (const job of jobs) {
      const group = job.groupId === null ? null : this.#rows.jobGroups.get(job.groupId);
      if (group === undefined || (group !== null && group.acceptedMs !== null)) return 'no_group';
      if (group !== null) {
        group.lines += 1;
        group.bytes += job.request.bytes;
        group.reservedNanousd += job.reservedNanousd;
      }
      this.#rows.jobs.set(job.id, stagedJob(job));
    }
    await this.putChunks(chunks);
    return 'staged';
  };

  dropStaged: JobStore['dropStaged'] = async (id) => {
    const group = this.#rows.jobGroups.get(id);
    if (group?.acceptedMs === null) this.#rows.jobGroups.delete(id);
    const isDropped = (job: MemoryJob): boolean =>
      job.id === id ? job.groupId === null : job.groupId === id && !this.#rows.jobGroups.has(id);
    const dropped = this.#where((job) => job.state === 'staged' && isDropped(job)).slice(0, LIMITS.jobStageRowsMax);
    for (const job of dropped) {
      this.#rows.jobs.delete(job.id);
      for (const [name, { jobId }] of this.#rows.jobChunks) if (jobId === job.id) this.#rows.jobChunks.delete(name);
    }
    return dropped.length >= LIMITS.jobStageRowsMax;
  };

  activate: JobStore['activate'] = async (groupId) => {
    const group = this.#rows.jobGroups.get(groupId);
    if (group === undefined || group.acceptedMs === null) return 0;
    const lines = this.#where((job) => job.groupId === groupId && job.state === 'staged');
    const { windowId, personWindowId } = group;
    for (const job of lines) Object.assign(job, { state: 'queued', windowId, personWindowId });
    group.isActive = true;
    return lines.length;
  };

  groupsToActivate: JobStore['groupsToActivate'] = async (limit) => {
    const groups = [...this.#rows.jobGroups.values()].filter((group) => group.acceptedMs !== null && !group.isActive);
    return groups.map(({ id }) => id).slice(0, limit);
  };

  find: JobStore['find'] = async (id, accountId) => {
    const job = this.#rows.jobs.get(id);
    const isHidden = job === undefined || job.state === 'staged';
    return isHidden || (accountId !== null && job.accountId !== accountId) ? null : { ...job };
  };

  list: JobStore['list'] = async (filter, { after, limit }) => {
    const inGroup = (filter.groupId ?? null) !== null;
    const jobs = this.#where((job) => isWanted(job, filter));
    if (!inGroup) jobs.reverse();
    const afterLine = after === null ? 0 : (this.#rows.jobs.get(after)?.line ?? 0);
    const rest = jobs.filter((job) => after === null || (inGroup ? job.line > afterLine : job.id < after));
    return rest.slice(0, limit).map((job) => ({ ...job }));
  };

  findGroup: JobStore['findGroup'] = async (id, accountId) => {
    const group = this.#rows.jobGroups.get(id);
    if (group === undefined || group.acceptedMs === null) return null;
    return accountId !== null && group.accountId !== accountId ? null : structuredClone(group);
  };

  listGroups: JobStore['listGroups'] = async ({ accountId, keyId = null, personId = null }, { after, limit }) => {
    const groups = [...this.#rows.jobGroups.values()].sort(byId).reverse();
    const own = groups.filter(
      (group) =>
        group.acceptedMs !== null &&
        (accountId === null || group.accountId === accountId) &&
        (keyId === null || group.keyId === keyId) &&
        (personId === null || group.personId === personId),
    );
    return own.filter(({ id }) => after === null || id < after).slice(0, limit);
  };

  accountsWithDueJobs: JobStore['accountsWithDueJobs'] = async (nowMs, after, limit) => {
    const due = this.#where(
      (job) => isDue(job, nowMs) && job.accountId > (after ?? 0n) && !this.#isSuspended(job.accountId),
    );
    const ids = [...new Set(due.map(({ accountId }) => accountId))];
    return ids.sort((one, other) => (one < other ? -1 : 1)).slice(0, limit);
  };

  #isSuspended(accountId: bigint): boolean {
    return this.#rows.accounts.get(accountId)?.status === 'suspended';
  }

  nextDueMs: JobStore['nextDueMs'] = async () => {
    const queued = this.#where(({ state, accountId }) => state === 'queued' && !this.#isSuspended(accountId));
    return queued.length === 0 ? null : Math.min(...queued.map(({ dueMs }) => dueMs));
  };

  claim: JobStore['claim'] = async (accountId, nowMs, leaseMs, limit) => {
    const due = this.#where((job) => job.accountId === accountId && isDue(job, nowMs));
    const claimed = due.sort((one, other) => one.dueMs - other.dueMs).slice(0, limit);
    for (const job of claimed) Object.assign(job, { dueMs: nowMs + leaseMs, claim: job.claim + 1 });
    return claimed.sort(byId).map((job) => ({ ...job }));
  };

  postpone: JobStore['postpone'] = async (id, claim, dueMs, error = null) => {
    const job = this.#rows.jobs.get(id);
    if (job === undefined || job.state !== 'queued' || job.claim !== claim) return false;
    job.dueMs = dueMs;
    if (error !== null) Object.assign(job, { errorCode: error.code, errorMessage: error.message });
    return true;
  };

  requestCancel: JobStore['requestCancel'] = async (id, accountId) => {
    const job = this.#rows.jobs.get(id);
    if (job === undefined || job.state === 'staged' || (accountId ?? job.accountId) !== job.accountId) return 'no_job';
    if (isFinal(job)) return 'ended';
    if (job.state !== 'running' && job.state !== 'cancelling') return 'waiting';
    job.state = 'cancelling';
    return 'cancelling';
  };

  cancelling: JobStore['cancelling'] = async (ids) =>
    ids.filter((id) => this.#rows.jobs.get(id)?.state === 'cancelling');

  expired: JobStore['expired'] = async (nowMs, limit) =>
    this.#where(({ state, expiresMs }) => state === 'queued' && expiresMs <= nowMs).slice(0, limit);

  waitingOf: JobStore['waitingOf'] = async ({ accountId, keyId, groupId }, limit) =>
    this.#where(
      (job) =>
        (job.state === 'queued' || job.state === 'paused') &&
        job.accountId === accountId &&
        (keyId === undefined || job.keyId === keyId) &&
        (groupId === undefined || job.groupId === groupId),
    ).slice(0, limit);

  paused: JobStore['paused'] = async (limit) => this.#where(({ state }) => state === 'paused').slice(0, limit);

  putChunks: JobStore['putChunks'] = async (chunks) => {
    for (const chunk of chunks) this.#rows.jobChunks.set(chunkName(chunk), chunk);
  };

  readChunk: JobStore['readChunk'] = async (name) => this.#rows.jobChunks.get(chunkName(name))?.sealed ?? null;

  /** No test of the memory driver encrypts anything again. */
  chunksAfter: JobStore['chunksAfter'] = async () => [];

  dropContent: JobStore['dropContent'] = async (id, accountId, nowMs) => {
    const job = this.#rows.jobs.get(id);
    if (job === undefined || job.state === 'staged' || (accountId ?? job.accountId) !== job.accountId) return 'no_job';
    if (!isFinal(job)) return 'not_ended';
    if (job.contentGoneMs === null) {
      this.#rows.jobTotals.get(job.accountId)!.bytes -= job.request.bytes + (job.result?.bytes ?? 0);
      job.contentGoneMs = nowMs;
    }
    return 'dropped';
  };

  sums: JobStore['sums'] = async (nowMs) => {
    const totals = [...this.#rows.jobTotals.values()];
    const first = await this.nextDueMs();
    return {
      waiting: totals.reduce((sum, { waiting }) => sum + waiting, 0),
      running: totals.reduce((sum, { running }) => sum + running, 0),
      paused: (await this.paused(LIMITS.jobsWaitingMax)).length,
      storedBytes: totals.reduce((sum, { bytes }) => sum + bytes, 0),
      oldestDueMs: first !== null && first <= nowMs ? first : null,
    };
  };

  priceList: JobStore['priceList'] = async (version) =>
    [...this.#rows.prices.values()].find((list) => list.version === version)?.pricesJson ?? null;

  #where(is: (job: MemoryJob) => boolean): MemoryJob[] {
    return [...this.#rows.jobs.values()].filter(is).sort(byId);
  }
}

function stagedJob(job: NewJob): MemoryJob {
  return {
    ...job,
    ...NOT_STARTED,
    requestBytes: job.request.bytes,
    state: 'staged',
    dueMs: job.notBeforeMs ?? job.createdMs,
    windowId: null,
    personWindowId: null,
  };
}

function isDue({ state, dueMs }: Job, nowMs: number): boolean {
  return state === 'queued' && dueMs <= nowMs;
}

function isFinal({ state }: Job): boolean {
  return FINAL_JOB_STATES.some((final) => final === state);
}

function isWanted(job: Job, filter: JobFilter): boolean {
  const { accountId, keyId = null, personId = null, groupId = null, states = null, scheduled = null } = filter;
  const isScheduled = (nowMs: number) => job.attempts === 0 && (job.notBeforeMs ?? 0) > nowMs;
  return (
    job.state !== 'staged' &&
    (accountId === null || job.accountId === accountId) &&
    (keyId === null || job.keyId === keyId) &&
    (personId === null || job.personId === personId) &&
    (groupId === null || job.groupId === groupId) &&
    (states === null || states.includes(job.state)) &&
    (scheduled === null || isScheduled(scheduled.nowMs) === scheduled.is)
  );
}

function chunkName({ jobId, attempt, digest, part }: { jobId: bigint; attempt: number; digest: string; part: number }) {
  return `${jobId} ${attempt} ${digest} ${part}`;
}
