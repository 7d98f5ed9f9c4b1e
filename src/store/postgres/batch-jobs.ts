import type { JobEvent } from '../jobs.ts';
import {
  GROUP_CELLS,
  type GroupColumns,
  groupRowOf,
  JOB_CELLS,
  type JobColumns,
  jobRowOf,
  type TotalsColumns,
  totalsOf,
} from '../programs/job-columns.ts';
import type { GroupRow, JobRow, JobTotals } from '../rules/job-rules.ts';
import type { LedgerOperation } from '../store.ts';
import type { Answer, Statement } from './pipeline.ts';
import { numbers, storable, texts } from './values.ts';

/** The jobs that a batch touches. Most batches touch none. */
export class TouchedJobs {
  readonly jobs = new Set<bigint>();
  readonly groups = new Set<bigint>();
  /** Calls that are voided: each may be the attempt of a job. */
  readonly calls = new Set<bigint>();
  readonly accounts = new Set<bigint>();
  /** Whether the batch takes the hold of a job's attempt, after which the job runs. */
  startsAny = false;

  add(operation: LedgerOperation): void {
    if (operation.kind === 'void') this.calls.add(operation.id);
    else if (operation.kind === 'release') this.jobs.add(operation.id);
    else if (operation.kind === 'reserve') {
      (operation.isGroup ? this.groups : this.jobs).add(operation.id);
      this.accounts.add(operation.accountId);
    } else if (operation.kind === 'hold' && operation.job !== undefined) {
      this.jobs.add(operation.job.id);
      this.startsAny = true;
    } else if (operation.kind === 'settle' && operation.job !== undefined) this.jobs.add(operation.job.jobId);
  }

  get isEmpty(): boolean {
    return this.jobs.size + this.groups.size + this.calls.size === 0;
  }
}

/** A query, and what to do with its rows. */
interface Read {
  readonly statement: Statement;
  load(rows: Answer['rows']): void;
}

type Cells = ReadonlyMap<bigint, readonly (bigint | string | null)[]>;

/** The rows of jobs in a batch. They are locked, because a claim changes them without locking the account. */
export class BatchJobs {
  readonly #touched: TouchedJobs;
  readonly jobs = new Map<bigint, JobRow>();
  readonly jobGroups = new Map<bigint, GroupRow>();
  readonly jobTotals = new Map<bigint, JobTotals>();
  readonly jobEvents: JobEvent[] = [];
  #jobsBefore: Cells = new Map();
  #groupsBefore: Cells = new Map();
  #totalsBefore: Cells = new Map();

  constructor(touched: TouchedJobs) {
    this.#touched = touched;
  }

  jobOfCall(callId: bigint): JobRow | undefined {
    return [...this.jobs.values()].find((job) => job.callId === callId);
  }

  /** After the accounts are locked. */
  reads(): Read[] {
    if (this.#touched.isEmpty) return [];
    const { jobs, calls, groups, accounts } = this.#touched;
    const [jobIds, callIds] = [numbers([...jobs]), numbers([...calls])];
    const byJob = [jobIds, callIds];
    return [
      { statement: { text: READ_JOBS, values: byJob }, load: (rows) => this.#loadJobs(rows) },
      {
        statement: { text: READ_GROUPS, values: [...byJob, numbers([...groups])] },
        load: (rows) => this.#loadGroups(rows),
      },
      {
        statement: { text: READ_TOTALS, values: [...byJob, numbers([...accounts])] },
        load: (rows) => this.#loadTotals(rows),
      },
    ];
  }

  #loadJobs(rows: Answer['rows']): void {
    for (const row of rows) {
      const job = jobRowOf(named<JobColumns>(JOB_COLUMNS, row));
      this.jobs.set(job.id, job);
    }
    this.#jobsBefore = new Map([...this.jobs].map(([id, job]) => [id, cellsOf(JOB_CELLS, job)]));
  }

  #loadGroups(rows: Answer['rows']): void {
    for (const row of rows) {
      const group = groupRowOf(named<GroupColumns>(GROUP_COLUMNS, row));
      this.jobGroups.set(group.id, group);
    }
    this.#groupsBefore = new Map([...this.jobGroups].map(([id, group]) => [id, cellsOf(GROUP_CELLS, group)]));
  }

  #loadTotals(rows: Answer['rows']): void {
    for (const row of rows) {
      const totals = totalsOf(named<TotalsColumns>(TOTALS_COLUMNS, row));
      this.jobTotals.set(totals.accountId, totals);
    }
    this.#totalsBefore = new Map([...this.jobTotals].map(([id, totals]) => [id, totalsCells(totals)]));
  }

  /** Writes the rows that changed. */
  statements(): (Statement | null)[] {
    if (this.#touched.isEmpty) return [];
    const jobs = [...this.jobs].map(([id, job]) => [id, cellsOf(JOB_CELLS, job)] as const);
    const groups = [...this.jobGroups].map(([id, group]) => [id, cellsOf(GROUP_CELLS, group)] as const);
    const totals = [...this.jobTotals].map(([id, each]) => [id, totalsCells(each)] as const);
    return [
      writeChanged(WRITE_JOBS, this.#jobsBefore, jobs, true),
      writeChanged(WRITE_GROUPS, this.#groupsBefore, groups, true),
      writeChanged(WRITE_TOTALS, this.#totalsBefore, totals, false),
      this.#addEvents(),
    ];
  }

  #addEvents(): Statement | null {
    const { jobEvents: events } = this;
    if (events.length === 0) return null;
    const values = [
      numbers(events.map(({ subjectId }) => subjectId)),
      numbers(events.map(({ accountId }) => accountId)),
      texts(events.map(({ type }) => type)),
      numbers(events.map(({ createdMs }) => createdMs)),
    ];
    return { text: ADD_EVENTS, values };
  }
}

function named<Columns>(columns: readonly string[], row: readonly unknown[]): Columns {
  return Object.fromEntries(columns.map((column, at) => [column, row[at]])) as Columns;
}

type CellsOf<Row> = Readonly<Record<string, (row: Row) => bigint | string | null>>;

function cellsOf<Row>(cells: CellsOf<Row>, row: Row): (bigint | string | null)[] {
  return Object.values(cells).map((cell) => cell(row));
}

function totalsCells({ waiting, running, bytes }: JobTotals): bigint[] {
  return [BigInt(waiting), BigInt(running), BigInt(bytes)];
}

/** Null if no row changed. A guarded statement fails unless it finds every row. */
function writeChanged(
  text: string,
  before: Cells,
  now: readonly (readonly [bigint, readonly (bigint | string | null)[]])[],
  isGuarded: boolean,
): Statement | null {
  const changed = now.filter(([id, cells]) => {
    const old = before.get(id);
    return old === undefined || cells.some((cell, at) => cell !== old[at]);
  });
  const [first] = changed;
  if (first === undefined) return null;
  const columns = first[1].map((_, at) => arrayOf(changed.map(([, cells]) => cells[at] ?? null)));
  const values = [numbers(changed.map(([id]) => id)), ...columns];
  return { text, values: isGuarded ? [...values, changed.length] : values };
}

/** A column without a text may be either; an array of nulls is the same for both. */
function arrayOf(cells: readonly (bigint | string | null)[]): string {
  const isText = cells.some((cell) => typeof cell === 'string');
  if (!isText) return numbers(cells as (bigint | null)[]);
  return texts(cells.map((cell) => (cell === null ? null : storable(String(cell)))));
}

/** Those that `jobRowOf` reads. */
const JOB_COLUMNS = [
  'id',
  'account_id',
  'key_id',
  'person_id',
  'group_id',
  'expires_ms',
  'result_ttl_ms',
  'on_unknown',
  'reserved',
  'request_bytes',
  'claim',
  ...Object.keys(JOB_CELLS),
];
/** Those that `groupRowOf` reads. */
const GROUP_COLUMNS = ['id', 'account_id', 'lines', 'bytes', ...Object.keys(GROUP_CELLS)];
const TOTALS_COLUMNS = ['account_id', 'waiting', 'running', 'bytes'];

const IS_TOUCHED = 'id = ANY($1::int8[]) OR call_id = ANY($2::int8[])';

const READ_JOBS = `SELECT ${JOB_COLUMNS.join(', ')} FROM job WHERE ${IS_TOUCHED} ORDER BY id FOR NO KEY UPDATE`;

const READ_GROUPS = `
  SELECT ${GROUP_COLUMNS.join(', ')} FROM job_group
  WHERE id = ANY($3::int8[]) OR id IN (SELECT group_id FROM job WHERE ${IS_TOUCHED}) ORDER BY id FOR NO KEY UPDATE`;

const READ_TOTALS = `
  SELECT ${TOTALS_COLUMNS.join(', ')} FROM job_account
  WHERE account_id = ANY($3::int8[]) OR account_id IN (SELECT account_id FROM job WHERE ${IS_TOUCHED})`;

const TEXT_COLUMNS = new Set(['error_code', 'error_message', 'result_digest']);

/** Fails, and with it the commit, unless every row is found. */
function updateOf(table: string, cells: Readonly<Record<string, unknown>>): string {
  const columns = Object.keys(cells);
  const arrays = columns.map((column, at) => `$${at + 2}::${TEXT_COLUMNS.has(column) ? 'text' : 'int8'}[]`);
  return `WITH changed AS (
    UPDATE ${table} SET ${columns.map((column) => `${column} = w.${column}`).join(', ')}
    FROM unnest($1::int8[], ${arrays.join(', ')}) AS w (id, ${columns.join(', ')}) WHERE ${table}.id = w.id RETURNING 1)
  SELECT 1 / (count(*) = $${columns.length + 2}::int8)::int FROM changed`;
}

const WRITE_JOBS = updateOf('job', JOB_CELLS);
const WRITE_GROUPS = updateOf('job_group', GROUP_CELLS);

const WRITE_TOTALS = `
  INSERT INTO job_account (account_id, waiting, running, bytes)
  SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) ORDER BY 1
  ON CONFLICT (account_id) DO UPDATE SET waiting = excluded.waiting, running = excluded.running, bytes = excluded.bytes`;

const ADD_EVENTS = `
  INSERT INTO job_event (subject_id, account_id, type, created_ms)
  SELECT * FROM unnest($1::int8[], $2::int8[], $3::text[], $4::int8[]) AS e (subject_id, account_id, type, created_ms)
  WHERE EXISTS (SELECT 1 FROM webhook WHERE coalesce(webhook.account_id, 0) = e.account_id)`;
