import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { wordsOf } from '../chat/delta-text.ts';
import { RepeatedFrames } from './repeated-frames.ts';

const frame = (words: string, more = '') => Buffer.from(`data: {"n":1,"delta":{"content":"${words}"}${more}}\n\n`);
const padded = (words: string, padding: string) => frame(words, `,"obfuscation":"${padding}"`);

function taught(raw: Buffer, written: string | null, delta: Record<string, unknown>): RepeatedFrames {
  const frames = new RepeatedFrames(wordsOf);
  frames.learn(raw, written, delta);
  return frames;
}

const found = (frames: RepeatedFrames, raw: Buffer) => {
  const hit = frames.find(raw, 0);
  return hit === null ? null : [hit.bytes.toString(), hit.wordBytes];
};

describe('a frame that differs in its words only', () => {
  test('goes on as it came where the earlier one did', () => {
    const frames = taught(frame('one'), null, { content: 'one' });
    const next = frame('zwölf');
    expect(frames.find(next, 0)).toEqual({ end: next.length, bytes: next, wordBytes: 6 });
  });

  test('is written as the earlier one was', () => {
    const frames = taught(frame('one'), 'data: {"content":"one","m":2}\n\n', { content: 'one' });
    expect(found(frames, frame(' two 橋'))).toEqual(['data: {"content":" two 橋","m":2}\n\n', 8]);
  });

  test('keeps its own padding', () => {
    const frames = taught(padded('one', 'xyz'), 'data: {"content":"one","obfuscation":"xyz"}\n\n', { content: 'one' });
    expect(found(frames, padded('two', 'q'))).toEqual(['data: {"content":"two","obfuscation":"q"}\n\n', 3]);
    expect(found(frames, padded('two', ''))).toEqual(['data: {"content":"two","obfuscation":""}\n\n', 3]);
  });

  test('has its trace under both names where the earlier one had', () => {
    const raw = Buffer.from('data: {"reasoning":"one"}\n\n');
    const frames = taught(raw, 'data: {"reasoning":"one","reasoning_content":"one"}\n\n', {
      reasoning: 'one',
      reasoning_content: 'one',
    });
    expect(found(frames, Buffer.from('data: {"reasoning":"two"}\n\n'))).toEqual([
      'data: {"reasoning":"two","reasoning_content":"two"}\n\n',
      3,
    ]);
  });

  test('may have escapes, each one byte of words', () => {
    const frames = taught(frame('one'), null, { content: 'one' });
    for (const [words, bytes] of [
      ['\\n', 1],
      ['a\\"b\\\\', 4],
      ['\\/\\t', 2],
    ] as const) {
      expect(frames.find(frame(words), 0)?.wordBytes).toBe(bytes);
    }
  });
});

describe('a frame is read by the parser when', () => {
  const frames = taught(frame('one'), null, { content: 'one' });
  test.each([
    ['it has no words', frame('')],
    ['it has other members', frame('two', ',"more":1')],
    ['it breaks off', frame('two').subarray(0, -3)],
    ['its words end it too soon', frame('two","evil":"x')],
    ['it has a long escape', frame('\\u0041')],
    ['it has a wrong escape', frame('\\x')],
    ['it has a control character', frame('a\tb')],
    ['it is shorter than what is around the words', Buffer.from('data: {}\n\n')],
    ['an escape reaches over its end', frame('two\\')],
    ['it has half a character', Buffer.from(frame('ü').filter((byte) => byte !== 0xbc))],
  ])('%s', (_name, raw) => {
    expect(frames.find(raw, 0)).toBeNull();
  });
});

describe('frames that follow each other', () => {
  const frames = taught(frame('one'), null, { content: 'one' });
  const run = Buffer.concat([frame('two'), frame('drei, vier'), frame('fünf\\n')]);
  const around = (...parts: readonly (string | Buffer)[]) =>
    Buffer.concat([Buffer.from('odd'), ...parts.map((part) => Buffer.from(part as string))]);

  test('go on together, as the bytes they stand in', () => {
    const bytes = around(run);
    const found = frames.find(bytes, 3);
    expect(found).toEqual({ end: bytes.length, bytes: run, wordBytes: 3 + 10 + 6 });
    expect(found?.bytes.buffer).toBe(bytes.buffer);
  });

  test.each([1, 2, 3, 7])('are written as the earlier one was, %i of them', (count) => {
    const changed = taught(frame('one'), 'data: {"content":"one","m":2}\n\n', { content: 'one' });
    const all = ['two', 'drei, vier', 'fünf\\n', ' ', 'x'.repeat(200), '橋', '.'].slice(0, count);
    const written = changed.find(around(...all.map((words) => frame(words))), 3)?.bytes.toString();
    expect(written).toBe(all.map((words) => `data: {"content":"${words}","m":2}\n\n`).join(''));
  });

  test.each([
    ['the terminator', 'data: [DONE]\n\n'],
    ['a frame without words', frame('')],
    ['a frame that is not whole yet', frame('six').subarray(0, -1)],
    ['a frame that has only begun', frame('six').subarray(0, 9)],
    ['a frame for the parser', frame('\\u0041')],
    ['half a character', Buffer.from(frame('ü').filter((byte) => byte !== 0xbc))],
    ['another shape', frame('six', ',"more":1')],
    ['a line end too many', '\n'],
  ])('up to %s', (_name, next) => {
    expect(frames.find(around(run, next), 3)).toMatchObject({ end: 3 + run.length, bytes: run, wordBytes: 19 });
  });

  test.each(Array.from({ length: 16 }, (_, more) => more))(
    'up to one that differs in any byte between the words, %i more of them',
    (more) => {
      const marked = (words: string) => frame(words, `,"m":"${'x'.repeat(more)}"`);
      const same = taught(marked('one'), null, { content: 'one' });
      const [first, second] = [marked('two'), marked('six')];
      expect(same.find(Buffer.concat([first, second]), 0)?.end).toBe(first.length + second.length);
      for (let at = 0; at < second.length; at++) {
        if (second.indexOf('six') <= at && at < second.indexOf('six') + 3) continue;
        const other = Buffer.from(second);
        other[at]! ^= 0x01;
        expect(same.find(Buffer.concat([first, other]), 0)?.end).toBe(first.length);
      }
    },
  );

  test('are written together where the earlier one was', () => {
    const written = 'data: {"reasoning":"one","reasoning_content":"one","obfuscation":"xyz"}\n\n';
    const raw = (words: string, padding: string) =>
      Buffer.from(`data: {"reasoning":"${words}","obfuscation":"${padding}","host":1}\n\n`);
    const mended = taught(raw('one', 'xyz'), written, { reasoning: 'one', reasoning_content: 'one' });
    const bytes = around(raw('two', 'q'), raw('drei', ''), raw('🛂', 'xx'));
    expect(mended.find(bytes, 3)?.bytes.toString()).toBe(
      [
        'data: {"reasoning":"two","reasoning_content":"two","obfuscation":"q"}\n\n',
        'data: {"reasoning":"drei","reasoning_content":"drei","obfuscation":""}\n\n',
        'data: {"reasoning":"🛂","reasoning_content":"🛂","obfuscation":"xx"}\n\n',
      ].join(''),
    );
  });

  test('are not recognised where one is larger than a frame may be, so that it is measured and refused', () => {
    const large = frame('x'.repeat(LIMITS.sseFrameBytesMax));
    expect(frames.find(large, 0)).toBeNull();
    expect(frames.find(around(run, large), 3)?.end).toBe(3 + run.length);
  });
});

describe('nothing is learned from', () => {
  test.each([
    ['words in two members', frame('one'), { content: 'one', reasoning: 'two' }],
    ['no words', frame(''), { content: '' }],
    [
      'words that stand there twice',
      Buffer.from('data: {"content":"one","x":{"content":"one"}}\n\n'),
      { content: 'one' },
    ],
    [
      'a frame whose line end may go on',
      Buffer.from(frame('one').toString().replaceAll('\n', '\r')),
      { content: 'one' },
    ],
    ['a frame with a line end before it', Buffer.from(`\n${frame('one')}`), { content: 'one' }],
    ['words that are spelled otherwise', frame('\\u006fne'), { content: 'one' }],
    ['two tool calls', frame('one'), { tool_calls: [{}, {}] }],
    ['a tool call without arguments', frame('one'), { tool_calls: [{ function: { name: 'x' } }] }],
  ])('%s', (_name, raw, delta) => {
    const frames = taught(raw, null, delta);
    expect(frames.find(frame('two'), 0)).toBeNull();
    expect(frames.find(raw, 0)).toBeNull();
  });

  test('words that stand there twice, since only one of them may be the words', () => {
    const twice = (words: string) => `data: {"content":"${words}","x":{"content":"one"}}\n\n`;
    const frames = taught(Buffer.from(twice('one')), twice('one'), { content: 'one' });
    expect(frames.find(Buffer.from(twice('two')), 0)).toBeNull();
  });

  test('a frame with padding in two places, since a repaired frame may keep either of them', () => {
    const raw = (inner: string) => frame('one', `,"provider":{"obfuscation":"${inner}"},"obfuscation":"xy"`);
    const written = padded('one', 'xy').toString();
    expect(taught(raw('xy'), written, { content: 'one' }).find(raw('leaked'), 0)).toBeNull();
  });

  test('a frame that was written without its words', () => {
    expect(taught(frame('one'), 'data: {}\n\n', { content: 'one' }).find(frame('two'), 0)).toBeNull();
  });

  test('a host whose frames are never alike, after a while', () => {
    const frames = new RepeatedFrames(wordsOf);
    for (let at = 0; at < 20; at++) frames.learn(frame('one', `,"at":${at}`), null, { content: 'one' });
    frames.learn(frame('one'), null, { content: 'one' });
    expect(frames.find(frame('two'), 0)).toBeNull();
  });
});

test('arguments of a tool call are words too, until another call begins', () => {
  const raw = (args: string) =>
    Buffer.from(`data: {"tool_calls":[{"index":0,"function":{"arguments":"${args}"}}]}\n\n`);
  const frames = taught(raw('one'), null, { tool_calls: [{ index: 0, function: { arguments: 'one' } }] });
  expect(frames.find(raw('{\\"a\\":1}'), 0)?.wordBytes).toBe(7);
  frames.forget();
  expect(frames.find(raw('two'), 0)).toBeNull();
});

test('the bytes of an earlier chunk may be reused by their owner', () => {
  const raw = frame('one');
  const frames = taught(raw, null, { content: 'one' });
  raw.fill(0);
  expect(frames.find(frame('two'), 0)).not.toBeNull();
});

test('a stream keeps its shapes in memory of their own', () => {
  const frames = new RepeatedFrames(wordsOf);
  const shape = frames.learn(padded('one', 'xyz'), 'data: {"content":"one","obfuscation":"xyz"}\n\n', {
    content: 'one',
  })!;
  const kept = [shape.seam.bytes, shape.between!, ...shape.written!.aroundWords];
  expect(Math.max(...kept.map(({ buffer }) => buffer.byteLength))).toBeLessThan(200);
});
