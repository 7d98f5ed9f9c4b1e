import { csvLine, csvText, csvUsd, csvUtc } from '../../operator/csv.ts';
import type { UsageFigures, UsageRowView, UsageView } from '../../operator/usage-view.ts';
import type { CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { type Column, formatTable } from '../table.ts';
import { readChoice, readMoment, time, usd } from '../text-values.ts';

const BUCKETS = ['hour', 'day', 'week', 'month', 'none'] as const;

export const usageCommand: CommandSpec = {
  name: 'usage',
  summary: 'show what calls have used and cost, in total or by key, model and time',
  options: [
    ['--since <when>', 'a date like 2027-01-31, or a duration like 24h (30d)'],
    ['--until <when>', 'a date or a duration (now)'],
    ['--by <groups>', 'a list of account, key, person, model, route, host, and chain or label:<name>', 'list'],
    ['--bucket <bucket>', 'hour, day, week, month or none'],
    ['--account <account>', 'only calls of this account'],
    ['--key <key>', 'only calls of this key'],
    ['--person <person>', "only calls of this person's keys"],
    ['--model <model>', 'only calls that this model answered'],
    ['--csv', 'print CSV with every figure'],
  ],
  examples: ['tollgate usage --since 30d --by key,model', 'tollgate usage --bucket day --by account --csv'],
  async run(session, _args, options) {
    if (options.csv === true && session.json) throw usageFailure('Give --csv or --json, not both.');
    const { clock } = session.composition;
    const moment = (name: 'since' | 'until'): number | null =>
      typeof options[name] === 'string' ? readMoment(options[name], `--${name}`, clock, 'ago') : null;
    const input = {
      since: moment('since'),
      until: moment('until'),
      bucket: readChoice(textOf(options, 'bucket') ?? 'none', '--bucket', BUCKETS),
      group_by: textOf(options, 'by') ?? '',
      account: textOf(options, 'account'),
      key: textOf(options, 'key'),
      person: textOf(options, 'person'),
      model: textOf(options, 'model'),
    };
    const answer = await session.ask('usage.report', input);
    if (options.csv === true) session.print(csvOf(answer.result));
    else session.show(answer, describeUsage);
    return EXIT.ok;
  },
};

function textOf(options: Options, name: string): string | null {
  const text = options[name];
  return typeof text === 'string' ? text : null;
}

const NO_MEMBERS: Omit<UsageRowView, keyof UsageFigures> = {
  start: null,
  account: null,
  account_name: null,
  key: null,
  key_name: null,
  person: null,
  person_email: null,
  model: null,
  route: null,
  host: null,
  chain: null,
  label: null,
};

const NAMES = {
  account: ({ account_name, account }: UsageRowView) => account_name ?? account,
  key: ({ key_name, key }: UsageRowView) => (key === null ? null : `${key_name ?? '?'} (${key})`),
  person: ({ person_email, person }: UsageRowView) => person_email ?? person,
  model: ({ model }: UsageRowView) => model,
  route: ({ route }: UsageRowView) => route,
  host: ({ host }: UsageRowView) => host,
  chain: ({ chain }: UsageRowView) => chain,
} as const;

function describeUsage({ since, until, bucket, group_by: groupBy, data, totals }: UsageView): string {
  const total: UsageRowView = { ...NO_MEMBERS, ...totals };
  const groups = groupBy.map(
    (name): Column<UsageRowView> => ({
      title: name.toUpperCase(),
      text: (row) => (row === total ? '' : (groupIn(name, row) ?? '-')),
    }),
  );
  const start: Column<UsageRowView>[] =
    bucket === 'none' ? [] : [{ title: 'FROM (UTC)', text: ({ start }) => (start === null ? 'total' : time(start)) }];
  const rows = groups.length + start.length === 0 ? [total] : [...data, total];
  return `${time(since)} to ${time(until)} UTC\n${formatTable([...start, ...groups, ...FIGURES], rows)}`;
}

function groupIn(name: string, row: UsageRowView): string | null {
  return Object.hasOwn(NAMES, name) ? NAMES[name as keyof typeof NAMES](row) : row.label;
}

const FIGURES: readonly Column<UsageRowView>[] = [
  figure('REQUESTS', ({ requests }) => count(requests)),
  figure('INPUT', (row) =>
    count(
      (row.fresh_tokens ?? 0) +
        (row.cache_read_tokens ?? 0) +
        (row.cache_write_tokens ?? 0) +
        (row.cache_write_1h_tokens ?? 0),
    ),
  ),
  figure('OUTPUT', ({ output_tokens: output }) => count(output)),
  figure('COST', ({ cost_nanousd: cost }) => (cost === null ? '-' : usd(cost))),
  figure('REFUNDED', ({ refunded_nanousd: refunded }) => (refunded === null ? '-' : usd(refunded))),
  figure('REFUSED', ({ refused }) => count(refused)),
  figure('FIRST BYTE P50/P95', ({ first_byte_p50_ms: p50, first_byte_p95_ms: p95 }) => times(p50, p95)),
  figure('DURATION P50/P95', ({ duration_p50_ms: p50, duration_p95_ms: p95 }) => times(p50, p95)),
];

function figure(title: string, text: (row: UsageRowView) => string): Column<UsageRowView> {
  return { title, align: 'right', text };
}

function count(value: number | null): string {
  return value === null ? '-' : value.toLocaleString('en-US');
}

function times(p50: number | null, p95: number | null): string {
  return p50 === null || p95 === null ? '-' : `${p50} / ${p95} ms`;
}

/** The same columns as those of the management API: amounts also in dollars, and when a bucket begins also in UTC. */
function csvOf({ data, totals }: UsageView): string {
  const names = Object.keys(data[0] ?? { ...NO_MEMBERS, ...totals }) as (keyof UsageRowView)[];
  const titles = names.flatMap(titlesOf);
  const lines = data.map((row) => csvLine(names.flatMap((name) => cellsOf(name, row[name]))));
  return [csvLine(titles), ...lines].join('');
}

function titlesOf(name: string): string[] {
  if (name === 'start') return [name, 'start_utc'];
  return isAmount(name) ? [name, name.replace(/_nanousd$/, '_usd')] : [name];
}

function cellsOf(name: string, value: string | number | bigint | null): string[] {
  if (value === null) return titlesOf(name).map(() => '');
  if (name === 'start') return [String(value), csvUtc(Number(value))];
  if (isAmount(name)) return [String(value), csvUsd(BigInt(value))];
  return [typeof value === 'string' ? csvText(value) : String(value)];
}

function isAmount(name: string): boolean {
  return name.endsWith('_nanousd');
}
