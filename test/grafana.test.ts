import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './tidy/paths.ts';

/** deploy/grafana.json asks only for what docs/metrics.md lists, which another test compares with /metrics. */

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const DASHBOARD = JSON.parse(readFileSync(join(ROOT, 'deploy/grafana.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
};
const PAGE = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8');

/** The labels of each metric on the page. */
const METRICS: ReadonlyMap<string, { readonly type: string; readonly labels: readonly string[] }> = new Map(
  [...PAGE.matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) ?\| .+ \|$/gm)].map(([, name, type, labels]) => [
    name!,
    { type: type!, labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!) },
  ]),
);

const CHARTS = DASHBOARD.panels.filter(({ type }) => type !== 'row');
const EXPRESSIONS = CHARTS.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));

/** The metric that a name in an expression belongs to. */
function metricOf(name: string): string {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return METRICS.get(base)?.type === 'histogram' ? base : name;
}

test('has panels with titles, ids of their own and places that do not overlap', () => {
  expect(CHARTS.length).toBeGreaterThan(15);
  expect(new Set(DASHBOARD.panels.map(({ id }) => id)).size).toBe(DASHBOARD.panels.length);
  expect(CHARTS.filter(({ title, targets = [] }) => title === '' || targets.length === 0)).toEqual([]);
  const cells = DASHBOARD.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

test.each(EXPRESSIONS)('$title asks for metrics and labels that exist: $expr', ({ expr, legendFormat }) => {
  const names = expr.match(/\b(?:tollgate|process|nodejs)_\w+/g)!;
  const ours = names.filter((name) => name.startsWith('tollgate_')).map(metricOf);
  expect(ours.filter((name) => !METRICS.has(name))).toEqual([]);
  const known = new Set(['instance', 'le', ...ours.flatMap((name) => METRICS.get(name)!.labels)]);
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(', '));
  const selected = [...expr.matchAll(/[{,]\s*(\w+)\s*[=!]~?"/g)].map(([, label]) => label!);
  const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
  expect([...grouped, ...selected, ...shown].filter((label) => !known.has(label))).toEqual([]);
});

test('a counter is never shown as it is, but as a rate or an increase', () => {
  const bare = EXPRESSIONS.filter(({ expr }) => {
    const counters = (expr.match(/\btollgate_\w+/g) ?? []).filter(
      (name) => METRICS.get(metricOf(name))!.type !== 'gauge',
    );
    return counters.length > 0 && !/\b(rate|increase)\(/.test(expr);
  });
  expect(bare).toEqual([]);
});

test('has a choice of data source and instance, from a metric that exists', () => {
  expect(DASHBOARD.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance']);
  const [asked] = DASHBOARD.templating.list[1]!.query.match(/tollgate_\w+/)!;
  expect(METRICS.has(asked)).toBe(true);
});
