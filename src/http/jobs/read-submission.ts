import { GatewayError } from '../../canonical/errors.ts';
import { readBody } from '../../gateway/read-call.ts';
import type { JobRequest, JobTerms } from '../../jobs/jobs.ts';
import type { JsonText } from '../../json/json.ts';
import { invalid, missing } from '../field-errors.ts';
import {
  asObject,
  checkCallBody,
  type Fields,
  readCustomId,
  readTerms,
  refuseUnknown,
  TERM_FIELDS,
} from './read-fields.ts';

const JOB_FIELDS = ['endpoint', 'body', 'custom_id', ...TERM_FIELDS];
const LINE_FIELDS = ['custom_id', 'method', 'url', 'body'];

interface JobSubmission {
  readonly request: JobRequest;
  readonly terms: JobTerms;
}

/** Reads the body of `POST /v1/jobs`. What the endpoint itself refuses in `body` is found when the job is admitted. */
export function readJob(bytes: Buffer, endpoints: readonly string[], nowMs: number): JobSubmission {
  const text = readBody(bytes);
  const fields = asObject(text.value);
  if (fields === null)
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `endpoint` and `body`.',
    });
  refuseUnknown(fields, JOB_FIELDS, 'A job');
  const endpoint = readEndpoint(fields, 'endpoint', endpoints);
  const body = readCallBody(text, fields);
  const customId = fields.custom_id == null ? null : readCustomId(fields.custom_id);
  return { request: { endpoint, body, customId }, terms: readTerms(fields, nowMs) };
}

/** Reads one line of a group, in the form of the vendors' batch files. */
export function readLine(bytes: Buffer, endpoints: readonly string[]): JobRequest & { readonly customId: string } {
  const text = readBody(bytes);
  const fields = asObject(text.value);
  if (fields === null)
    throw new GatewayError('invalid_request_body', {
      message: 'A line must be a JSON object with `custom_id`, `method`, `url` and `body`.',
    });
  refuseUnknown(fields, LINE_FIELDS, 'A line');
  if (fields.custom_id == null) throw missing('custom_id', 'give each line an id of its own');
  const customId = readCustomId(fields.custom_id);
  if (fields.method == null) throw missing('method', 'it is "POST"');
  if (fields.method !== 'POST') throw invalid('method', 'must be "POST"');
  return { endpoint: readEndpoint(fields, 'url', endpoints), body: readCallBody(text, fields), customId };
}

function readEndpoint(fields: Fields, param: string, endpoints: readonly string[]): string {
  const value = fields[param];
  if (value === undefined || value === null) throw missing(param, 'name the route of the call');
  if (typeof value === 'string' && endpoints.includes(value)) return value;
  throw invalid(param, `must be one of ${endpoints.join(', ')}`);
}

/** The bytes as they were sent. */
function readCallBody(text: JsonText, fields: Fields): Buffer {
  if (fields.body === undefined || fields.body === null) throw missing('body', 'send the body that the endpoint takes');
  checkCallBody(fields.body);
  const { start, end } = text.locate(['body'])!;
  return text.bytes.subarray(start, end);
}
