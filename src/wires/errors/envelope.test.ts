import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { SseFramer } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { COMMENT, writeError, writeStreamError } from './envelope.ts';

const ERROR = new GatewayError('invalid_value', { param: 'n', message: 'Say "two"\nor three.' });
const ENVELOPE = {
  error: { message: 'Say "two"\nor three.', type: 'invalid_request_error', code: 'invalid_value', param: 'n' },
};

function framesOf(text: string) {
  const frames: { data: string | null; isComment: boolean }[] = [];
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  framer.push(Buffer.from(text), ({ data, isComment }) => frames.push({ data, isComment }));
  return frames;
}

test('an error has its status and all four members', () => {
  const { status, body } = writeError(ERROR);
  expect(status).toBe(400);
  expect(JSON.parse(body)).toEqual(ENVELOPE);
  const bare = new GatewayError('internal_error', { message: 'Oh.' });
  expect(JSON.parse(writeError(bare).body).error).toEqual({
    message: 'Oh.',
    type: 'api_error',
    code: 'internal_error',
    param: null,
  });
});

test('the same error inside a stream is one event', () => {
  const [frame, ...more] = framesOf(writeStreamError(ERROR));
  expect(more).toEqual([]);
  expect(JSON.parse(frame!.data!)).toEqual(ENVELOPE);
});

test('what keeps a stream alive is a comment', () => {
  expect(framesOf(COMMENT)).toEqual([{ data: null, isComment: true }]);
});
