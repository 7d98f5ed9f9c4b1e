import type { UsageDimension } from '../../src/store/usage-dimensions.ts';
import type { UsageQuery, UsageRow } from '../../src/store/usage-report.ts';
import { type ReceiptTable, TOKENS } from './receipts.ts';
import type { World } from './world.ts';

/** As docs/usage.md lists them. */
const BOUNDS_MS = [100, 200, 300, 500, 700, 1e3, 1.5e3, 2e3, 3e3, 5e3, 7e3, 1e4, 2e4, 6e4, 18e4];

/** What a report has to say of one group, as text, so that two can be compared. */
type Groups = Map<string, string>;

interface Sums {
  requests: number;
  readonly tokens: number[];
  cost: number;
  refunded: number;
  readonly firstByte: number[];
  readonly duration: number[];
}

/** Adds the receipts up one by one, in the plainest way. */
export function expectedGroups(table: ReceiptTable, world: World, query: UsageQuery): Groups {
  const groups = new Map<string, Sums>();
  for (let at = 0; at < table.count; at++) {
    if (!isWanted(table, at, world, query)) continue;
    const name = groupOf(table, at, world, query);
    let sums = groups.get(name);
    if (sums === undefined) {
      const none = { requests: 0, cost: 0, refunded: 0 };
      sums = { ...none, tokens: TOKENS.map(() => 0), firstByte: noTimes(), duration: noTimes() };
      groups.set(name, sums);
    }
    sums.requests += 1;
    for (const [kind, column] of table.tokens.entries()) sums.tokens[kind]! += column[at]!;
    sums.cost += table.cost[at]!;
    sums.refunded += table.refunded[at]!;
    count(sums.firstByte, table.firstByteMs[at]!);
    count(sums.duration, table.durationMs[at]!);
  }
  return new Map([...groups].map(([name, sums]) => [name, textOf({ ...sums, times: query.times })]));
}

function noTimes(): number[] {
  return Array.from({ length: BOUNDS_MS.length + 1 }, () => 0);
}

function count(classes: number[], ms: number): void {
  if (ms < 0) return;
  const at = BOUNDS_MS.findIndex((bound) => ms < bound);
  classes[at === -1 ? BOUNDS_MS.length : at]! += 1;
}

function isWanted(table: ReceiptTable, at: number, world: World, { sinceMs, untilMs, filter }: UsageQuery): boolean {
  const ms = table.createdMs[at]!;
  return (
    ms >= sinceMs &&
    ms < untilMs &&
    (filter.accountId === null || world.accounts[table.account[at]!] === filter.accountId) &&
    (filter.keyId === null || world.keys[table.key[at]!]?.id === filter.keyId) &&
    (filter.personId === null || world.people[table.person[at]!] === filter.personId) &&
    (filter.model === null || world.models[table.model[at]!] === filter.model) &&
    (filter.route === null || world.routes[table.route[at]!] === filter.route) &&
    (filter.host === null || world.hosts[table.host[at]!] === filter.host)
  );
}

const VALUES: Readonly<Record<UsageDimension, (table: ReceiptTable, at: number, world: World) => unknown>> = {
  account_id: (table, at, world) => world.accounts[table.account[at]!],
  key_id: (table, at, world) => world.keys[table.key[at]!]?.id,
  person_id: (table, at, world) => world.people[table.person[at]!],
  effective_model: (table, at, world) => world.models[table.model[at]!],
  route: (table, at, world) => world.routes[table.route[at]!],
  host: (table, at, world) => world.hosts[table.host[at]!],
};

function groupOf(table: ReceiptTable, at: number, world: World, query: UsageQuery): string {
  const values = query.groups.map((dimension) => VALUES[dimension](table, at, world) ?? null);
  return nameOf(bucketOf(query, table.createdMs[at]!), values, detailOf(table, at, world, query));
}

function detailOf(table: ReceiptTable, at: number, world: World, { detail }: UsageQuery): string | null {
  if (detail === null) return null;
  if (detail.kind === 'chain') return table.chain[at] === -1 ? null : `chain-${table.chain[at]}`;
  if (table.team[at] === -1) return null;
  return detail.name === 'team' ? world.teams[table.team[at]!]! : detail.name === 'other' ? 'x' : null;
}

/** By the calendar, and not as the product computes it. */
function bucketOf({ bucket }: UsageQuery, ms: number): number | null {
  const date = new Date(ms);
  if (bucket === 'none') return null;
  if (bucket === 'hour') return date.setUTCMinutes(0, 0, 0);
  date.setUTCHours(0, 0, 0, 0);
  if (bucket === 'month') date.setUTCDate(1);
  if (bucket === 'week') while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
  return date.getTime();
}

function nameOf(startMs: number | null, values: readonly unknown[], detail: string | null): string {
  return JSON.stringify([startMs, ...values.map((value) => (value === null ? null : String(value))), detail]);
}

function textOf(sums: Omit<Sums, 'requests'> & { readonly requests: number; readonly times: boolean }): string {
  const { requests, tokens, cost, refunded, firstByte, duration, times } = sums;
  return [requests, ...tokens, cost, refunded, ...(times ? [...firstByte, ...duration] : [])].join(' ');
}

const MEMBERS: Readonly<Record<UsageDimension, (row: UsageRow) => unknown>> = {
  account_id: (row) => row.accountId,
  key_id: (row) => row.keyId,
  person_id: (row) => row.personId,
  effective_model: (row) => row.model,
  route: (row) => row.route,
  host: (row) => row.host,
};

/** The groups of a report, in the same form as the expected ones. */
export function reportedGroups(rows: readonly UsageRow[], { groups }: UsageQuery): Groups {
  return new Map(
    rows.map((row) => {
      const name = nameOf(
        row.startMs,
        groups.map((dimension) => MEMBERS[dimension](row)),
        row.detail,
      );
      const { requests, cost, ...tokens } = row.sums;
      const text = [
        requests,
        ...Object.values(tokens),
        cost,
        row.refunded,
        ...(row.firstByte ?? []),
        ...(row.duration ?? []),
      ];
      return [name, text.join(' ')];
    }),
  );
}

/** The first difference between two sets of groups; null if they are equal. */
export function differenceOf(expected: Groups, reported: Groups): string | null {
  for (const [name, text] of expected) {
    if (reported.get(name) !== text) return `${name}: expected ${text}, reported ${reported.get(name) ?? 'nothing'}`;
  }
  const surplus = [...reported.keys()].find((name) => !expected.has(name));
  return surplus === undefined ? null : `${surplus} is reported, but has no receipts`;
}
