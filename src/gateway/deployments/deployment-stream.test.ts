import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { SseFramer } from '../../kit/sse.ts';
import { chat } from '../../wires/chat/index.ts';
import type { HostError } from '../../wires/wire.ts';
import { VerbatimStream } from './deployment-stream.ts';

function open(): VerbatimStream {
  const reader = chat.relay.stream!.mend({
    catalogModel: 'own',
    requestId: 'req_1',
    createdS: 1,
    nowS: () => 1,
    wantsUsageFrame: false,
    hideReasoning: false,
    request: {},
    quirks: {},
  });
  return new VerbatimStream({
    reader,
    checkWork: () => {},
    asCallersOwn: (error: HostError) => ({ ...error, kind: 'request' }),
    writeError: (error) => `data: ours ${error.message}\n\n`,
    hideKey: (text) => text.replaceAll('the-key', '[key]'),
  });
}

/** What is passed on immediately for each frame of the text. */
function feed(stream: VerbatimStream, text: string): (string | null)[] {
  const left: (string | null)[] = [];
  const framer = new SseFramer(100_000);
  framer.push(Buffer.from(text), (frame) => left.push(stream.frame(frame)?.toString() ?? null));
  return left;
}

const FIRST = 'data: {"choices":[{"index":0,"delta":{"content":"!"},"finish_reason":null}]}\n\n';
const WORDS = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"odd":1.0}\n\n';
const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\n';
const DONE = 'data: [DONE]\n\n';
const FAILED = new GatewayError('host_failed', { message: 'failed' });

describe('a provider’s stream', () => {
  test('is passed on unchanged, except for its end, which is withheld', () => {
    const stream = open();
    expect(feed(stream, WORDS + FINISH + USAGE + DONE)).toEqual([WORDS, FINISH, USAGE, null]);
    expect([stream.terminal, stream.error, stream.closing()]).toEqual([true, null, DONE]);
    expect(stream.usage).toMatchObject({ state: 'reported', usage: { freshTokens: 3, outputTokens: 1 } });
    expect(stream.relayedBytes).toBe(2);
  });

  test('is passed on unchanged if its frames repeat, and its bytes are counted', () => {
    const stream = open();
    feed(stream, FIRST + WORDS);
    const next = Buffer.from(WORDS.replace('Hi', 'Ho') + WORDS.replace('Hi', ' hum') + FINISH);
    expect(stream.repeated(next, 0)).toEqual({
      end: next.length - FINISH.length,
      bytes: next.subarray(0, -FINISH.length),
    });
    expect(stream.repeated(next, next.length - FINISH.length)).toBeNull();
    expect(stream.relayedBytes).toBe(1 + 2 + 2 + 4);
  });

  test('counts the memory of its largest frame, because a usage with many lists is kept until the end', () => {
    const stream = open();
    feed(stream, WORDS + USAGE);
    expect(stream.keptBytes).toBe(0);
    const lists = 10_000;
    const usage = `{"prompt_tokens":3,"completion_tokens":1,"odd":[${'[],'.repeat(lists)}[]]}`;
    feed(stream, `data: {"choices":[],"usage":${usage}}\n\n`);
    const kept = stream.keptBytes;
    expect(kept).toBeGreaterThan(40 * lists);
    feed(stream, WORDS);
    expect(stream.keptBytes).toBe(kept);
  });

  test('drops comments, so that they do not cause a response head', () => {
    expect(feed(open(), ': ping\n\n')).toEqual([null]);
  });

  test('ends without a terminator if the provider sent none and every choice was finished', () => {
    const stream = open();
    feed(stream, WORDS);
    expect(stream.mayEndHere).toBe(false);
    feed(stream, FINISH);
    expect([stream.mayEndHere, stream.closing()]).toEqual([true, '']);
  });

  test('fails with the provider’s own error, without the key in it', () => {
    const stream = open();
    const error = 'data: {"error":{"message":"the-key is bad","code":"c"}}\n\n';
    expect(feed(stream, WORDS + error)).toEqual([WORDS, null]);
    expect(stream.error).toMatchObject({ kind: 'request' });
    expect(stream.failure(FAILED)).toBe(error.replace('the-key', '[key]'));
  });

  test('fails with our error if the provider sent none, or an unreadable one', () => {
    const broken = open();
    feed(broken, WORDS);
    expect(broken.failure(FAILED)).toBe('data: ours failed\n\n');
    const garbled = open();
    expect(feed(garbled, `${WORDS}data: {"choices":\n\n`)).toEqual([WORDS, null]);
    expect([garbled.terminal, garbled.failure(FAILED)]).toEqual([true, 'data: ours failed\n\n']);
  });

  test('invalid counts raise no alarm', () => {
    const stream = open();
    feed(stream, `${WORDS}data: {"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":1}}\n\n${DONE}`);
    expect(stream.usage).toEqual({ state: 'missing' });
    expect(stream.closing()).toBe(DONE);
  });
});
