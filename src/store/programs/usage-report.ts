import { idFloorAt } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { DAY_MS, HOUR_MS, startOf } from '../time-spans.ts';
import {
  dimensionOfCall,
  startOfCall,
  sumOfCalls,
  timeColumns,
  USAGE_DAY,
  USAGE_HOUR,
  type UsageTable,
} from '../usage-columns.ts';
import { USAGE_DIMENSIONS, USAGE_SUMS, type UsageDimension } from '../usage-dimensions.ts';
import { countsRefusals, type UsageFilter, type UsageQuery, type UsageReport } from '../usage-report.ts';
import { type Program, rowOf, rowsOf, type SqlValue } from './program.ts';
import { type PartRow, ReportRows } from './usage-report-rows.ts';
import { usageUpTo } from './usage-sums.ts';

/**
 * A report is the sums of closed receipts, the receipts that are not closed yet, and what was refunded of receipts that
 * are kept. It has to be read as of one moment, because closing moves receipts from one to the other.
 */
export function* reportUsage(query: UsageQuery, callsOf: CallsOfAccount = callsByIndex): Program<UsageReport> {
  const range = rangeOf(query, callsOf);
  if (query.detail !== null && (yield* hasTooManyReceipts(query, range))) return 'too_many_receipts';
  const rows = new ReportRows(query);
  for (const part of partsOf(query, range, yield* usageUpTo())) {
    const found = yield* readPart(part);
    if (found.length > LIMITS.usagePartRowsMax) return 'too_many_rows';
    for (const row of found) rows.add(row);
  }
  if (rows.size > LIMITS.usageRowsMax) return 'too_many_rows';
  return yield* rows.finish();
}

export interface Condition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** The condition for calls of one account in a range of ids, in the form that the engine finds them by quickly. */
export type CallsOfAccount = (accountId: bigint, fromId: bigint, belowId: bigint) => Condition;

export function callsByIndex(accountId: bigint, fromId: bigint, belowId: bigint): Condition {
  return { text: 'call.account_id = ? AND call.id >= ? AND call.id < ?', values: [accountId, fromId, belowId] };
}

/** Rows of a table, grouped by what the report is grouped by. */
interface Part {
  readonly from: string;
  /** What the rows are grouped by, with the names of the columns. */
  readonly groups: readonly (readonly [name: string, sql: string])[];
  /** With the names of the columns. */
  readonly sums: readonly string[];
  readonly where: readonly Condition[];
}

function* readPart({ from, groups, sums, where }: Part): Program<readonly PartRow[]> {
  const selected = [...groups.map(([name, sql]) => `${sql} AS ${name}`), ...sums];
  const by = groups.length === 0 ? '' : `GROUP BY ${groups.map(([, sql]) => sql).join(', ')}`;
  return yield* rowsOf<PartRow>(
    `SELECT ${selected.join(', ')} FROM ${from} WHERE ${where.map(({ text }) => text).join(' AND ')} ${by} LIMIT ?`,
    ...where.flatMap(({ values }) => values),
    LIMITS.usagePartRowsMax + 1,
  );
}

function partsOf(query: UsageQuery, range: Condition, closedUpTo: bigint): Part[] {
  const refunds: Part = {
    from: 'credit JOIN call ON call.id = credit.call_id',
    groups: groupsOfCalls(query),
    sums: ['sum(credit.amount) AS refunded'],
    where: [{ text: 'credit.call_id IS NOT NULL', values: [] }, ...conditionsOfCalls(query)],
  };
  // Chains and labels are not in the sums.
  if (query.detail !== null) return [partOfCalls(query, range), refunds];
  const open = partOfCalls(query, { text: 'call.id > ?', values: [closedUpTo] });
  const refused = countsRefusals(query) ? [partOfRefusals(query)] : [];
  return [...tablesFor(query).map((span) => partOfSums(query, span)), open, refunds, ...refused];
}

interface TableSpan {
  readonly table: UsageTable;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whole days are read from the sums by day, the hours before and after them from the sums by hour. */
function tablesFor({ sinceMs, untilMs, bucket }: UsageQuery): TableSpan[] {
  const firstDayMs = startOf(DAY_MS, sinceMs + DAY_MS - 1);
  const endOfDaysMs = startOf(DAY_MS, untilMs);
  const hours = (fromMs: number, toMs: number): TableSpan => ({ table: USAGE_HOUR, fromMs, toMs });
  if (bucket === 'hour' || firstDayMs >= endOfDaysMs) return [hours(sinceMs, untilMs)];
  const days = { table: USAGE_DAY, fromMs: firstDayMs, toMs: endOfDaysMs };
  return [hours(sinceMs, firstDayMs), days, hours(endOfDaysMs, untilMs)].filter(({ fromMs, toMs }) => fromMs < toMs);
}

function partOfSums(query: UsageQuery, { table, fromMs, toMs }: TableSpan): Part {
  const spanMs = spanOf(query);
  const columns = query.groups.map((dimension) => [dimension, dimension] as const);
  const starts = spanMs === null ? [] : [['start_ms', `start_ms - start_ms % ${spanMs}`] as const];
  return {
    from: table.name,
    groups: [...starts, ...columns],
    sums: [...sumColumns(query).map((column) => `sum(${column}) AS ${column}`), 'sum(deleted_refunded) AS refunded'],
    where: [
      { text: 'start_ms >= ? AND start_ms < ?', values: [fromMs, toMs] },
      ...conditionsOf(query.filter, (dimension) => dimension),
    ],
  };
}

/** Refused calls are counted by account and key, and a key belongs to one person. */
function partOfRefusals(query: UsageQuery): Part {
  const spanMs = spanOf(query);
  const starts = spanMs === null ? [] : [['start_ms', `start_ms - start_ms % ${spanMs}`] as const];
  const column = (dimension: UsageDimension): string =>
    dimension === 'person_id' ? 'coalesce(api_key.person_id, 0)' : `refusal_hour.${dimension}`;
  return {
    from: 'refusal_hour LEFT JOIN api_key ON api_key.id = refusal_hour.key_id',
    groups: [...starts, ...query.groups.map((dimension) => [dimension, column(dimension)] as const)],
    sums: ['sum(refused) AS refused'],
    where: [
      { text: 'start_ms >= ? AND start_ms < ?', values: [query.sinceMs, query.untilMs] },
      ...conditionsOf(query.filter, column),
    ],
  };
}

function partOfCalls(query: UsageQuery, range: Condition): Part {
  const ended = { text: `call.state <> ${CALL_STATE.of.open}`, values: [] };
  return {
    from: 'call',
    groups: groupsOfCalls(query),
    sums: sumColumns(query).map(sumOfCalls),
    where: [range, ended, ...conditionsOfCalls(query)],
  };
}

function groupsOfCalls(query: UsageQuery): [name: string, sql: string][] {
  const spanMs = spanOf(query);
  return [
    ...(spanMs === null ? [] : [['start_ms', startOfCall(spanMs)] as [string, string]]),
    ...query.groups.map((dimension): [string, string] => [dimension, dimensionOfCall(dimension)]),
    ...(query.detail === null ? [] : [DETAILS[query.detail.kind]]),
  ];
}

const DETAILS: Readonly<Record<'chain' | 'label', [name: string, sql: string]>> = {
  chain: ['detail', 'call.chain'],
  label: ['detail', 'call.labels'],
};

function conditionsOfCalls({ sinceMs, untilMs, filter }: UsageQuery): Condition[] {
  const created = { text: 'call.created_ms >= ? AND call.created_ms < ?', values: [sinceMs, untilMs] };
  const column = (dimension: UsageDimension): string =>
    dimension === 'effective_model' ? dimensionOfCall(dimension) : `call.${dimension}`;
  return [created, ...conditionsOf(filter, column)];
}

function conditionsOf(filter: UsageFilter, column: (dimension: UsageDimension) => string): Condition[] {
  const ids: [UsageDimension, bigint | null][] = [
    ['account_id', filter.accountId],
    ['key_id', filter.keyId],
    ['person_id', filter.personId],
  ];
  const names: [UsageDimension, string | null][] = [
    ['effective_model', filter.model],
    ['route', filter.route],
    ['host', filter.host],
  ];
  const named = '(SELECT id FROM name WHERE text = ?)';
  return [
    ...ids.flatMap(([dimension, id]) => (id === null ? [] : [{ text: `${column(dimension)} = ?`, values: [id] }])),
    ...names.flatMap(([dimension, text]) =>
      text === null ? [] : [{ text: `${column(dimension)} = ${named}`, values: [text] }],
    ),
  ];
}

/** In SQL, weeks and months are grouped by day. */
function spanOf({ bucket }: UsageQuery): number | null {
  if (bucket === 'none') return null;
  return bucket === 'hour' ? HOUR_MS : DAY_MS;
}

function sumColumns({ times }: UsageQuery): string[] {
  return times ? [...USAGE_SUMS, ...timeColumns('first_byte'), ...timeColumns('duration')] : [...USAGE_SUMS];
}

/** Ids sort by the time of the request, which is a little before the time of creation. */
function rangeOf({ sinceMs, untilMs, filter: { accountId } }: UsageQuery, callsOf: CallsOfAccount): Condition {
  const fromId = idFloorAt(sinceMs - LIMITS.storeIdLeadMs);
  const belowId = idFloorAt(untilMs + LIMITS.storeIdLagMs);
  if (accountId !== null) return callsOf(accountId, fromId, belowId);
  return { text: 'call.id >= ? AND call.id < ?', values: [fromId, belowId] };
}

/** Counts only receipts that meet the filter, so that nobody is refused because of the receipts of others. */
function* hasTooManyReceipts({ filter }: UsageQuery, range: Condition): Program<boolean> {
  const wanted = conditionsOf(filter, (dimension) => dimension);
  const row = yield* rowOf<{ examined: bigint; found: bigint }>(
    `SELECT count(*) AS examined, count(*) FILTER (WHERE ${['1 = 1', ...wanted.map(({ text }) => text)].join(' AND ')}) AS found
     FROM (SELECT ${USAGE_DIMENSIONS.map((dimension) => `${dimensionOfCall(dimension)} AS ${dimension}`).join(', ')} FROM call
           WHERE ${range.text} AND call.state <> ${CALL_STATE.of.open} LIMIT ?) AS examined`,
    ...wanted.flatMap(({ values }) => values),
    ...range.values,
    LIMITS.usageExaminedMax + 1,
  );
  return row!.examined > LIMITS.usageExaminedMax || row!.found > LIMITS.usageReceiptsMax;
}
