/** Jobs of several owners, which take turns: an owner with many or long jobs does not delay the others. */
export class CountQueue<Job> {
  /** Owners with jobs, the next one first. */
  readonly #owners = new Map<string, Job[]>();

  add(owner: string, job: Job): void {
    const jobs = this.#owners.get(owner);
    if (jobs === undefined) this.#owners.set(owner, [job]);
    else jobs.push(job);
  }

  /** Runs one step of the next owner's first job. The step returns whether the job has ended. False if there is no job. */
  turn(step: (job: Job) => boolean): boolean {
    const [next] = this.#owners;
    if (next === undefined) return false;
    const [owner, jobs] = next;
    if (step(jobs[0]!)) jobs.shift();
    this.#owners.delete(owner);
    if (jobs.length > 0) this.#owners.set(owner, jobs);
    return true;
  }
}
