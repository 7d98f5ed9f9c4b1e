import type { z } from 'zod';
import { describeIssue, type Issue, issuePath } from '../json/describe-issue.ts';
import { formatPath } from '../json/error.ts';
import { nearestName } from '../kit/nearest.ts';
import { LIMITS } from '../limits.ts';
import { configJsonSchema } from './schema.ts';

export interface ConfigProblem {
  /** The file, flag or variable with the problem. */
  readonly source: string;
  /** The field inside the file, like `hosts[0].base_url`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** Invalid settings. Lists every problem, each with its place and what is allowed. */
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

/** What the schema refused, by field. Values are never repeated: they may be secrets. */
export function problemsOf(error: z.ZodError, source: string): ConfigProblem[] {
  return error.issues
    .flatMap((issue) => locate(issue).map((found) => ({ source, ...found })))
    .slice(0, LIMITS.configProblemsMax);
}

function locate(issue: Issue): Omit<ConfigProblem, 'source'>[] {
  const steps = issuePath(issue);
  if (issue.code !== 'unrecognized_keys') return [{ path: formatPath(steps), message: describeIssue(issue) }];
  const known = knownFields(steps);
  return issue.keys.map((key) => ({ path: formatPath([...steps, key]), message: describeUnknown(key, known) }));
}

function describeUnknown(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  const hint = nearest === null ? '' : `; did you mean "${nearest}"?`;
  return `is not a known field${hint}${known.length === 0 ? '' : ` (known: ${known.join(', ')})`}`;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
}

/** Reads the published JSON schema, because it has no wrapper types. */
function knownFields(steps: readonly (string | number)[]): string[] {
  let node: SchemaNode | undefined = configJsonSchema();
  for (const step of steps) node = typeof step === 'number' ? node?.items : memberNode(node, step);
  return Object.keys(node?.properties ?? {}).filter((name) => name !== '$schema');
}

function memberNode(node: SchemaNode | undefined, name: string): SchemaNode | undefined {
  const rest = node?.additionalProperties;
  return node?.properties?.[name] ?? (typeof rest === 'object' ? rest : undefined);
}
