import { z } from 'zod';
import { GatewayError } from '../canonical/errors.ts';
import { unknownName } from '../canonical/unknown-name.ts';
import { readBody } from '../gateway/read-call.ts';
import { describeIssue, isMissing, issuePath } from '../json/describe-issue.ts';
import { formatPath } from '../json/error.ts';

const NO_FIELDS = z.strictObject({});

/** For a route without fields: a caller who sends one means something that would not happen. */
export function refuseFields(body: Buffer): void {
  readFields(NO_FIELDS, body);
}

/** An empty body is an empty object. */
export function readFields<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.output<Schema> {
  const parsed = schema.safeParse(body.length === 0 ? {} : readBody(body).value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  if (issue.code === 'unrecognized_keys') throw unknownName(issue.keys[0]!, 'Leave it out.');
  const path = formatPath(issuePath(issue));
  const message = `\`${path}\` ${describeIssue(issue)}.`;
  if (path !== '' && isMissing(issue)) throw new GatewayError('missing_required_parameter', { param: path, message });
  if (path !== '') throw new GatewayError('invalid_value', { param: path, message });
  throw new GatewayError('invalid_request_body', { message: `The body ${describeIssue(issue)}.` });
}
