import type { z } from 'zod';
import { describeIssue, issuePath } from '../json/describe-issue.ts';
import { formatPath } from '../json/error.ts';
import { invalidMember, OperatorError } from './error.ts';

/** Throws an OperatorError that names the first member at fault. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = formatPath(issuePath(issue));
  if (path !== '') throw invalidMember(path, `${describeIssue(issue)}.`);
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  throw new OperatorError('invalid_input', `The input ${describeIssue(issue)}.`, null, unknown ?? null);
}
