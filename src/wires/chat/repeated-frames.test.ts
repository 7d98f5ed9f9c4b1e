import { describe, expect, test } from 'vitest';
import { RepeatedFrames } from '../repeated-frames.ts';
import { wordsOf } from './words.ts';

const frame = (words: string, more = '') => Buffer.from(`data: {"n":1,"delta":{"content":"${words}"}${more}}\n\n`);
const padded = (words: string, padding: string) => frame(words, `,"obfuscation":"${padding}"`);

function taught(raw: Buffer, written: string | null, delta: Record<string, unknown>): RepeatedFrames {
  const frames = new RepeatedFrames(wordsOf);
  frames.learn(raw, written, delta);
  return frames;
}

const found = (frames: RepeatedFrames, raw: Buffer) => {
  const hit = frames.find(raw);
  return hit === null ? null : [hit.bytes.toString(), hit.wordBytes];
};

describe('a frame that differs in its words only', () => {
  test('goes on as it came where the earlier one did', () => {
    const frames = taught(frame('one'), null, { content: 'one' });
    const next = frame('zwölf');
    expect(frames.find(next)).toEqual({ bytes: next, wordBytes: 6 });
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
      expect(frames.find(frame(words))?.wordBytes).toBe(bytes);
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
    ['it has an escape that is no short one', frame('\\u0041')],
    ['it has a wrong escape', frame('\\x')],
    ['it has a control character', frame('a\tb')],
    ['it is shorter than what is around the words', Buffer.from('data: {}\n\n')],
    ['an escape reaches over its end', frame('two\\')],
    ['it has half a character', Buffer.from(frame('ü').filter((byte) => byte !== 0xbc))],
  ])('%s', (_name, raw) => {
    expect(frames.find(raw)).toBeNull();
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
    ['words that are spelled otherwise', frame('\\u006fne'), { content: 'one' }],
    ['two tool calls', frame('one'), { tool_calls: [{}, {}] }],
    ['a tool call without arguments', frame('one'), { tool_calls: [{ function: { name: 'x' } }] }],
  ])('%s', (_name, raw, delta) => {
    expect(taught(raw, null, delta).find(frame('two'))).toBeNull();
  });

  test('words that stand there twice, since only one of them may be the words', () => {
    const twice = (words: string) => `data: {"content":"${words}","x":{"content":"one"}}\n\n`;
    const frames = taught(Buffer.from(twice('one')), twice('one'), { content: 'one' });
    expect(frames.find(Buffer.from(twice('two')))).toBeNull();
  });

  test('a frame that was written without its words', () => {
    expect(taught(frame('one'), 'data: {}\n\n', { content: 'one' }).find(frame('two'))).toBeNull();
  });

  test('a host whose frames are never alike, after a while', () => {
    const frames = new RepeatedFrames(wordsOf);
    for (let at = 0; at < 20; at++) frames.learn(frame('one', `,"at":${at}`), null, { content: 'one' });
    frames.learn(frame('one'), null, { content: 'one' });
    expect(frames.find(frame('two'))).toBeNull();
  });
});

test('arguments of a tool call are words too, until another call begins', () => {
  const raw = (args: string) =>
    Buffer.from(`data: {"tool_calls":[{"index":0,"function":{"arguments":"${args}"}}]}\n\n`);
  const frames = taught(raw('one'), null, { tool_calls: [{ index: 0, function: { arguments: 'one' } }] });
  expect(frames.find(raw('{\\"a\\":1}'))?.wordBytes).toBe(7);
  frames.forget();
  expect(frames.find(raw('two'))).toBeNull();
});

test('the bytes of an earlier chunk may be reused by their owner', () => {
  const raw = frame('one');
  const frames = taught(raw, null, { content: 'one' });
  raw.fill(0);
  expect(frames.find(frame('two'))).not.toBeNull();
});
