import { describe, expect, test } from 'vitest';
import { eventsIn, faultsOfStream, recordings } from '../../../test/responses-stream.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { readError, readStreamError, writeStreamError } from './errors.ts';

describe('errors inside a stream', () => {
  test.each([
    [{ type: 'error', error: { type: 'server_error', code: 'server_error', message: 'x' } }, 'unavailable', 500],
    [{ type: 'error', code: 'server_error', message: 'flat', param: null, sequence_number: 3 }, 'unavailable', 500],
    [{ code: 'rate_limit_exceeded', message: 'slow' }, 'rate', 429],
    [{ type: 'rate_limit_error', message: 'slow' }, 'rate', 429],
    [{ code: 'insufficient_quota', message: 'You exceeded your current quota' }, 'credentials', 402],
    [{ code: 'invalid_prompt', message: 'no' }, 'request', 400],
    [{ code: 'image_too_large', message: 'no' }, 'request', 400],
    [{ code: 'bio_policy', message: 'no' }, 'request', 400],
    [{ code: 'context_length_exceeded', message: 'too long' }, 'over_window', 400],
    [{ code: 503, message: 'busy' }, 'unavailable', 503],
    ['just words', 'unavailable', 500],
    [null, 'unavailable', 500],
  ])('%o', (error, kind, status) => {
    expect(readStreamError(error)).toMatchObject({ kind, status });
  });
});

test('an error of a stream without state is written as an error and a failed response', () => {
  const error = new GatewayError('host_timeout', { message: 'Too slow.' });
  const text = writeStreamError(error, 'req_77');
  const [first, second] = eventsIn(text);
  expect(first).toMatchObject({
    name: 'error',
    data: {
      type: 'error',
      error: { message: 'Too slow.', type: 'upstream_error', code: 'host_timeout', param: null },
      message: 'Too slow.',
      code: 'host_timeout',
      sequence_number: 0,
    },
  });
  expect(second).toMatchObject({ name: 'response.failed', data: { response: { id: 'resp_77', status: 'failed' } } });
  expect(faultsOfStream(text)).toEqual(['begins with error, response.failed']);
});

test('a recorded over-window refusal is recognised', () => {
  const recorded = recordings().find(({ id }) => id.endsWith('openai-400-context'));
  const body =
    recorded?.body ??
    Buffer.from(
      '{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded","param":"input"}}',
    );
  expect(readError(400, body)).toMatchObject({ kind: 'over_window', code: 'context_length_exceeded', param: 'input' });
});
