import { expect, test } from 'vitest';
import type { GroupResult } from '../../jobs/jobs.ts';
import { LIMITS } from '../../limits.ts';
import { resultLine, resultLines } from './result-lines.ts';

function result(job: object, body: string | null, status = 200): GroupResult {
  const answer = body === null ? null : { status, lines: '', body: Buffer.from(body) };
  const row = { id: 1n, callId: 2n, customId: 'a', state: 'succeeded', errorCode: null, errorMessage: null, ...job };
  return { job: row as GroupResult['job'], answer };
}

test('a result has the form of the vendors’ batch files, on one line, with every digit of the answer', () => {
  const line = resultLine(result({ customId: 'q"1' }, '{\r\n  "n": 12345678901234567890.10,\n  "t": "a\\nb"\n}'));
  expect(line).not.toMatch(/[\r\n]/);
  expect(line).toContain('12345678901234567890.10');
  expect(JSON.parse(line)).toEqual({
    id: expect.stringMatching(/^job_/),
    custom_id: 'q"1',
    response: {
      status_code: 200,
      request_id: expect.stringMatching(/^req_/),
      body: { n: expect.any(Number), t: 'a\nb' },
    },
    error: null,
  });
});

test.each<[string, object, string]>([
  ['was cancelled', { state: 'cancelled' }, 'job_cancelled'],
  ['expired', { state: 'expired' }, 'job_expired'],
  ['was deleted', { state: 'succeeded' }, 'result_expired'],
  ['was cancelled with its key', { state: 'cancelled', errorCode: 'key_revoked', errorMessage: 'x' }, 'key_revoked'],
  ['failed and was deleted', { state: 'failed', errorCode: 'wrong_wire', errorMessage: 'x' }, 'wrong_wire'],
  [
    'has an unknown outcome',
    { state: 'failed', errorCode: 'job_outcome_unknown', errorMessage: 'x' },
    'job_outcome_unknown',
  ],
])('a job that %s has an error instead of a response', (_, job, code) => {
  const line = JSON.parse(resultLine(result({ callId: null, ...job }, null)));
  expect(line).toMatchObject({ custom_id: 'a', response: null, error: { code, message: expect.any(String) } });
});

test('a job that expired has the code of that, and why it waited in the message', () => {
  const job = { state: 'expired', errorCode: 'key_inactive', errorMessage: 'The key of the job is disabled.' };
  const { error } = JSON.parse(resultLine(result({ callId: null, ...job }, null)));
  expect(error).toEqual({
    code: 'job_expired',
    message: 'The job could not start before its expires_at. The key of the job is disabled.',
  });
});

test('an answer that is an error is a response, as it was', () => {
  const line = JSON.parse(resultLine(result({ state: 'failed', errorCode: 'x' }, '{"error":{"code":"x"}}', 400)));
  expect(line).toMatchObject({ response: { status_code: 400, body: { error: { code: 'x' } } }, error: null });
});

test('several lines are sent at a time, and a long answer by itself', async () => {
  async function* results(): AsyncGenerator<GroupResult> {
    yield result({}, '{}');
    yield result({}, `{"a":"${'x'.repeat(LIMITS.responsePieceBytes)}"}`);
    yield result({}, '{}');
  }
  const pieces: string[] = [];
  for await (const piece of resultLines(results())) pieces.push(piece);
  expect(pieces.map((piece) => piece.split('\n').length - 1)).toEqual([2, 1]);
});
