export interface QueuedJob {
  readonly id: number;
  readonly account: string;
  /** A key of the account. */
  readonly owner: string;
}

/** Jobs of several accounts, which take turns; so do the keys of one account. Many or long jobs do not delay others. */
export class CountQueue<Job extends QueuedJob> {
  /** By account and owner, the next one first. */
  readonly #accounts = new Map<string, Map<string, Job[]>>();
  readonly #jobs = new Map<number, Job>();

  add(job: Job): void {
    const owners = this.#accounts.get(job.account) ?? new Map<string, Job[]>();
    owners.set(job.owner, [...(owners.get(job.owner) ?? []), job]);
    this.#accounts.set(job.account, owners);
    this.#jobs.set(job.id, job);
  }

  /** Drops a job at once; false if it is not in the queue. */
  remove(id: number): boolean {
    const job = this.#jobs.get(id);
    if (job === undefined) return false;
    this.#jobs.delete(id);
    const owners = this.#accounts.get(job.account)!;
    const left = owners.get(job.owner)!.filter((other) => other !== job);
    if (left.length > 0) owners.set(job.owner, left);
    else owners.delete(job.owner);
    if (owners.size === 0) this.#accounts.delete(job.account);
    return true;
  }

  /** Runs one step of the next job. The step returns whether the job has ended. False if there is no job. */
  turn(step: (job: Job) => boolean): boolean {
    const [nextAccount] = this.#accounts;
    if (nextAccount === undefined) return false;
    const [account, owners] = nextAccount;
    const [nextOwner] = owners;
    const [owner, jobs] = nextOwner!;
    const job = jobs[0]!;
    moveToEnd(owners, owner, jobs);
    moveToEnd(this.#accounts, account, owners);
    if (step(job)) this.remove(job.id);
    return true;
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}
