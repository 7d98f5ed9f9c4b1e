import type { JobStore } from '../jobs.ts';
import { chunksAfter, dropContent, putChunks, readChunk, resealChunk, sweep } from './job-contents.ts';
import {
  accountsWithDueJobs,
  cancellingOf,
  events,
  expired,
  find,
  findGroup,
  handOver,
  list,
  listGroups,
  nextDueMs,
  pausedJobs,
  priceList,
  sums,
  waitingOf,
} from './job-reads.ts';
import {
  activate,
  claim,
  createGroup,
  dropStaged,
  groupsToActivate,
  postpone,
  requestCancel,
  resumePaused,
  stage,
} from './jobs.ts';
import type { Program } from './program.ts';

/** Programs that only read. */
const JOB_READS = {
  groupsToActivate,
  find,
  list,
  findGroup,
  listGroups,
  accountsWithDueJobs,
  nextDueMs,
  cancelling: cancellingOf,
  expired,
  waitingOf,
  readChunk,
  chunksAfter,
  events,
  paused: pausedJobs,
  sums,
  priceList,
};

/** Programs that change rows of jobs, but no money; each is one commit. */
const JOB_CHANGES = {
  createGroup,
  stage,
  dropStaged,
  activate,
  claim,
  postpone,
  requestCancel,
  putChunks,
  resealChunk,
  dropContent,
  sweep,
  handOver,
  resumePaused,
};

/** Those of them that may look at many more rows than they return: an account may have hundreds of thousands of jobs. */
export const LONG_JOB_READS: ReadonlySet<JobRead> = new Set(['list', 'listGroups', 'waitingOf']);

type Programs = { readonly [name: string]: (...args: never[]) => Program<unknown> };
type ResultOf<Made> = Made extends Program<infer Result> ? Result : never;
type Verbs<Of extends Programs> = {
  readonly [Name in keyof Of]: (...args: Parameters<Of[Name]>) => Promise<ResultOf<ReturnType<Of[Name]>>>;
};

/** What the programs make; the interface must be the same, and the compiler compares them. */
type AllVerbs = Verbs<typeof JOB_READS> & Verbs<typeof JOB_CHANGES>;

export type JobRead = keyof typeof JOB_READS;
export type JobChange = keyof typeof JOB_CHANGES;

/** What an engine adds: how it runs one program by name. */
interface JobEngine {
  read(name: JobRead, args: readonly unknown[]): Promise<unknown>;
  change(name: JobChange, args: readonly unknown[]): Promise<unknown>;
}

export function jobsOver(engine: JobEngine): JobStore {
  const verbs: Record<string, (...args: unknown[]) => Promise<unknown>> = {};
  for (const name of Object.keys(JOB_READS)) verbs[name] = (...args) => engine.read(name as JobRead, args);
  for (const name of Object.keys(JOB_CHANGES)) verbs[name] = (...args) => engine.change(name as JobChange, args);
  return verbs as unknown as AllVerbs;
}

/** The program of that name, ready to run. The arguments were checked where the typed verb was called. */
export function jobProgramOf(name: JobRead | JobChange, args: readonly unknown[]): Program<unknown> {
  const programs = { ...JOB_READS, ...JOB_CHANGES } as Record<string, (...args: unknown[]) => unknown>;
  return programs[name]!(...args) as Program<unknown>;
}
