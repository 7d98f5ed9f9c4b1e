import { JOB_PREFIX, REQUEST_PREFIX } from '../../canonical/id-prefixes.ts';
import type { GroupResult } from '../../jobs/jobs.ts';
import { stringifyJson } from '../../json/stringify.ts';
import { formatId } from '../../kit/ids.ts';
import { LIMITS } from '../../limits.ts';

/** The results of a group in the form of the vendors' batch files, one JSON object per line; several lines at a time. */
export async function* resultLines(results: AsyncIterable<GroupResult>): AsyncGenerator<string> {
  let lines = '';
  for await (const result of results) {
    lines += `${resultLine(result)}\n`;
    if (lines.length < LIMITS.responsePieceBytes) continue;
    yield lines;
    lines = '';
  }
  if (lines !== '') yield lines;
}

export function resultLine({ job, answer }: GroupResult): string {
  const head = stringifyJson({ id: formatId(JOB_PREFIX, job.id), custom_id: job.customId });
  const rest =
    answer === null ? `"response":null,"error":${errorOf(job)}` : `"response":${responseOf(job, answer)},"error":null`;
  return `${head.slice(0, -1)},${rest}}`;
}

/** The body is JSON already; it keeps its bytes, except that breaks between its tokens become spaces. */
function responseOf(job: GroupResult['job'], { status, body }: NonNullable<GroupResult['answer']>): string {
  const requestId = job.callId === null ? 'null' : `"${formatId(REQUEST_PREFIX, job.callId)}"`;
  const text = body.toString().replace(/[\r\n]/g, ' ');
  return `{"status_code":${status},"request_id":${requestId},"body":${text}}`;
}

function errorOf({ state, errorCode, errorMessage }: GroupResult['job']): string {
  if (state === 'expired') return stringifyJson({ ...EXPIRED, message: withReason(EXPIRED.message, errorMessage) });
  if (errorCode !== null) return stringifyJson({ code: errorCode, message: errorMessage ?? '' });
  return stringifyJson(WITHOUT_ANSWER[state] ?? GONE);
}

/** With the reason why the job waited, if there is one. */
function withReason(message: string, reason: string | null): string {
  return reason === null ? message : `${message} ${reason}`;
}

const EXPIRED = { code: 'job_expired', message: 'The job could not start before its expires_at.' };
const WITHOUT_ANSWER: Readonly<Record<string, { code: string; message: string }>> = {
  cancelled: { code: 'job_cancelled', message: 'The job was cancelled before it ended.' },
};
const GONE = {
  code: 'result_expired',
  message: 'The result of the job was deleted, by you or because it had expired.',
};
