import { dirname, join, normalize } from 'node:path';
import type { Node } from 'oxc-parser';
import { lineAt, type SourceFile } from './source-files.ts';
import { isImportMetaUrl, literalText, memberName, placesOf } from './syntax.ts';

export interface Imports {
  /** Files of this repository, from its root. */
  readonly files: readonly string[];
  /** Packages and modules of Node. */
  readonly modules: readonly string[];
  /** Lines with an import whose target is unknown. */
  readonly unreadable: readonly number[];
}

/**
 * Everything a file refers to: imports, re-exports, `import()`, `import('…').Type`, `require`, `import.meta.resolve`,
 * `new URL('…', import.meta.url)` and threads started by `startThread(import.meta.url, '…')`.
 */
export function importsOf(file: SourceFile, known: readonly string[]): Imports {
  const files = new Set<string>();
  const modules = new Set<string>();
  const unreadable: number[] = [];
  for (const { node } of placesOf(file)) {
    for (const { target, mustBeKnown } of targetsIn(node)) {
      const specifiers = target.type === 'TemplateLiteral' ? expand(target, file.path, known) : [literalText(target)];
      if (specifiers.length === 0 || specifiers[0] === null) {
        if (mustBeKnown) unreadable.push(lineAt(file, target.start));
        continue;
      }
      for (const specifier of specifiers as string[]) {
        if (specifier.startsWith('.')) files.add(normalize(join(dirname(file.path), specifier)));
        else modules.add(specifier);
      }
    }
  }
  return { files: [...files], modules: [...modules], unreadable };
}

interface Target {
  readonly target: Node;
  /** False where the expression may also name something other than a source file. */
  readonly mustBeKnown: boolean;
}

function targetsIn(node: Node): Target[] {
  const must = (target: Node): Target[] => [{ target, mustBeKnown: true }];
  const may = (target: Node | undefined): Target[] => (target === undefined ? [] : [{ target, mustBeKnown: false }]);
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return must(node.source);
    case 'ExportNamedDeclaration':
      return node.source === null ? [] : must(node.source);
    case 'TSExternalModuleReference':
      return must(node.expression);
    case 'NewExpression':
      return isImportMetaUrl(node.arguments[1]) ? may(node.arguments[0]) : [];
    case 'CallExpression':
      return targetsOfCall(node);
    default:
      return [];
  }
}

function targetsOfCall({ callee, arguments: given }: Extract<Node, { type: 'CallExpression' }>): Target[] {
  const [first, second] = given;
  if (first === undefined) return [];
  const isRequire = callee.type === 'Identifier' && callee.name === 'require';
  const isResolve =
    callee.type === 'MemberExpression' && callee.object.type === 'MetaProperty' && memberName(callee) === 'resolve';
  if (isRequire || isResolve) return [{ target: first, mustBeKnown: true }];
  const thread = isImportMetaUrl(first) && second !== undefined ? literalText(second) : null;
  if (thread === null) return [];
  const target = { ...second, value: `./${thread}.ts` } as Node;
  return [{ target, mustBeKnown: true }];
}

/** A template stands for every known file that it could name. */
function expand(
  template: Extract<Node, { type: 'TemplateLiteral' }>,
  from: string,
  known: readonly string[],
): string[] {
  const whole = literalText(template);
  if (whole !== null) return [whole];
  const [first = '', ...rest] = template.quasis.map(({ value }) => value.cooked ?? value.raw);
  if (!first.startsWith('.')) return [];
  const beginning = normalize(join(dirname(from), first));
  const pattern = new RegExp(`^${[beginning, ...rest].map(escaped).join('.*')}$`);
  return known.filter((path) => pattern.test(path)).map((path) => relativeTo(from, path));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function relativeTo(from: string, path: string): string {
  return `./${'../'.repeat(from.split('/').length - 1)}${path}`;
}

/** Groups of files that import each other, directly or by way of others; each group as its shortest cycle. */
export function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const seen = new Set<string>();
  for (const start of graph.keys()) {
    if (seen.has(start)) continue;
    const circle = shortestWayBack(graph, start);
    if (circle === null) continue;
    for (const path of circle) seen.add(path);
    circles.push(circle);
  }
  return circles;
}

function shortestWayBack(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const path of queue) {
    for (const next of graph.get(path) ?? []) {
      if (next === start) return wayTo(path, start, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, path);
      queue.push(next);
    }
  }
  return null;
}

function wayTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [end];
  while (way[0] !== start) way.unshift(cameFrom.get(way[0]!)!);
  return way;
}
