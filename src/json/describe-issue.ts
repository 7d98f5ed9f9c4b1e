import type { z } from 'zod';
import { counted } from '../kit/counted.ts';
import { formatPath } from './error.ts';

export type Issue = z.core.$ZodIssue;

export function issuePath(issue: Issue): (string | number)[] {
  return issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
}

/** Says what the schema expected, as the rest of a sentence; never repeats the value that was sent. */
export function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `${isMissing(issue) ? 'is missing; it ' : ''}must be ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string' && Number(issue.minimum) === 1) return 'must not be empty';
      return `must be ${boundOf(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must be ${boundOf(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'invalid_key':
      return `is not an allowed name: ${issue.issues[0]?.message ?? 'see the schema'}`;
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return describeUnion(issue);
    default:
      return issue.message;
  }
}

export function isMissing(issue: Issue): boolean {
  return issue.message.endsWith('received undefined');
}

/** Describes the alternative that failed deepest inside, which is most likely the one that was meant. */
function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  if (issue.message !== 'Invalid input') return issue.message;
  const deepest = issue.errors.flat().toSorted((a, b) => b.path.length - a.path.length)[0];
  if (deepest === undefined) return 'does not match the schema';
  const path = formatPath(issuePath(deepest));
  return path === '' ? describeIssue(deepest) : `is invalid at ${path}, which ${describeIssue(deepest)}`;
}

function boundOf(origin: string, bound: string, limit: number): string {
  if (origin === 'string') return `${bound} ${counted(limit, 'character')} long`;
  if (origin === 'array') return `a list of ${bound} ${limit}`;
  return `${bound} ${limit}`;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  record: 'an object',
  array: 'a list',
  object: 'an object',
};

function withArticle(type: string): string {
  return TYPE_WORDS[type] ?? `a ${type}`;
}
