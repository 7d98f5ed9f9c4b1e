import type { z } from 'zod';
import { configJsonSchema } from './config-schema.ts';
import { formatPath } from './kit/json-error.ts';
import { nearestName } from './kit/nearest.ts';
import { LIMITS } from './limits.ts';

export interface ConfigProblem {
  /** The file, flag or variable at fault. */
  readonly source: string;
  /** The field inside a file, as `hosts[0].base_url`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** Settings nobody should start with; says every fault at once, each with its place and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.problems = problems;
  }
}

export function describeProblem(problem: ConfigProblem): string {
  return [problem.source, problem.path, problem.message].filter((part) => part !== '').join(': ');
}

/** What the schema refused, in words that name the field and what may stand there; values are never repeated. */
export function problemsOf(error: z.ZodError, source: string): ConfigProblem[] {
  return error.issues
    .flatMap((issue) => describeIssue(issue).map((found) => ({ source, ...found })))
    .slice(0, LIMITS.configProblemsMax);
}

type Issue = z.core.$ZodIssue;
type PathStep = string | number;

function describeIssue(issue: Issue): Omit<ConfigProblem, 'source'>[] {
  const steps = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code !== 'unrecognized_keys') return [{ path: formatPath(steps), message: describeFault(issue) }];
  const known = knownFields(steps);
  return issue.keys.map((key) => ({ path: formatPath([...steps, key]), message: describeUnknown(key, known) }));
}

function describeUnknown(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  const hint = nearest === null ? '' : `; did you mean "${nearest}"?`;
  return `is not a known field${hint}${known.length === 0 ? '' : ` (known: ${known.join(', ')})`}`;
}

function describeFault(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return `must be ${boundOf(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must be ${boundOf(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'invalid_key':
      return `is no allowed name: ${issue.issues[0]?.message ?? 'see the schema'}`;
    case 'invalid_union':
      return describeUnion(issue.errors);
    default:
      return issue.message;
  }
}

/** The alternative that fits best is the one that failed deepest inside. */
function describeUnion(alternatives: readonly (readonly Issue[])[]): string {
  const deepest = alternatives.flat().toSorted((a, b) => b.path.length - a.path.length)[0];
  if (deepest === undefined) return 'has the wrong form';
  const [found] = describeIssue(deepest);
  return found === undefined || found.path === '' ? 'has the wrong form' : `${found.path} ${found.message}`;
}

function boundOf(origin: string, bound: string, limit: number): string {
  if (origin === 'string') return limit === 1 ? 'not empty' : `${bound} ${limit} characters long`;
  if (origin === 'array') return `a list of ${bound} ${limit}`;
  return `${bound} ${limit}`;
}

function withArticle(type: string): string {
  const names: Record<string, string> = { int: 'a whole number', record: 'an object', array: 'a list' };
  return names[type] ?? (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
}

/** Reads the published schema rather than the types behind it: there every wrapper is already gone. */
function knownFields(steps: readonly PathStep[]): string[] {
  let node: SchemaNode | undefined = configJsonSchema();
  for (const step of steps) {
    const rest: SchemaNode | boolean | undefined = node?.additionalProperties;
    node =
      typeof step === 'number'
        ? node?.items
        : (node?.properties?.[step] ?? (typeof rest === 'object' ? rest : undefined));
  }
  return Object.keys(node?.properties ?? {}).filter((name) => name !== '$schema');
}
