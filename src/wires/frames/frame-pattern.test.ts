import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import {
  bareAt,
  barePattern,
  identityAt,
  identityOf,
  mayBeAt,
  mayHaveTextAt,
  type StreamIdentity,
  shapeFor,
  wordsPattern,
} from './frame-pattern.ts';
import { RepeatedFrames, type Shape } from './repeated-frames.ts';

const ONE: StreamIdentity = { id: 'stream-1', created: '1790000001' };
const TWO: StreamIdentity = { id: 'stream-2', created: '1790000002' };

const wordsFrame = ({ id, created }: StreamIdentity, words: string) =>
  `data: {"id":"${id}","created":${created},"model":"host","content":"${words}"}\n\n`;
const writtenFrame = ({ id, created }: StreamIdentity, words: string) =>
  `data: {"content":"${words}","id":"${id}","created":${created},"model":"ours"}\n\n`;
const endFrame = ({ id, created }: StreamIdentity, padding = '') =>
  `data: {"id":"${id}","created":${created},"finish":"stop"${padding}}\n\n`;
const padded = (padding: string) => `,"obfuscation":"${padding}"`;

const wordsOf = (holder: Readonly<Record<string, unknown>>) => ({ names: ['content'], text: String(holder.content) });

function shapeOf(raw: string, written: string | null, words: string): Shape {
  return new RepeatedFrames(wordsOf).learn(Buffer.from(raw), written, { content: words })!;
}

const patternOf = (written: string | null = null) =>
  wordsPattern(shapeOf(wordsFrame(ONE, 'one'), written, 'one'), ONE)!;

/** What a stream with another identity writes for its first frame with that pattern. */
function adopted(pattern: ReturnType<typeof patternOf>, identity: StreamIdentity, frame: string): string | null {
  const run = new RepeatedFrames(wordsOf).adopt(shapeFor(pattern, identity), Buffer.from(frame), 0);
  return run?.bytes.toString() ?? null;
}

describe('identityOf', () => {
  test('takes ids that JSON can spell in one way only', () => {
    expect(identityOf('chatcmpl-A.b:c/d@e=f+g~h_1', 1_790_000_001)).toEqual({
      id: 'chatcmpl-A.b:c/d@e=f+g~h_1',
      created: '1790000001',
    });
  });

  test.each(['', 'quo"te', 'back\\slash', 'sp ace', 'ümlaut', 'line\nend'])('refuses the id %j', (id) => {
    expect(identityOf(id, 1_790_000_001)).toBeNull();
  });
});

describe('a pattern of frames with words', () => {
  test('gives a stream a shape in memory of its own', () => {
    const { seam, written } = shapeFor(patternOf(writtenFrame(ONE, 'one')), TWO);
    const kept = [seam.bytes, ...written!.aroundWords];
    expect(Math.max(...kept.map(({ buffer }) => buffer.byteLength))).toBeLessThan(300);
  });

  test('gives another stream the frame it would have written itself', () => {
    expect(adopted(patternOf(), TWO, wordsFrame(TWO, 'zwei'))).toBe(wordsFrame(TWO, 'zwei'));
    const rewritten = patternOf(writtenFrame(ONE, 'one'));
    expect(adopted(rewritten, TWO, wordsFrame(TWO, 'zwei'))).toBe(writtenFrame(TWO, 'zwei'));
  });

  test('does not match a frame that has the id or the time of another stream', () => {
    expect(adopted(patternOf(), TWO, wordsFrame({ ...TWO, id: ONE.id }, 'zwei'))).toBeNull();
    expect(adopted(patternOf(), TWO, wordsFrame({ ...TWO, created: ONE.created }, 'zwei'))).toBeNull();
  });

  test('is looked at only where an id of the same length follows, then its own text, then words', () => {
    const at = (identity: StreamIdentity, frame: string) => mayHaveTextAt(patternOf(), identity, Buffer.from(frame), 0);
    expect(at(TWO, wordsFrame(TWO, 'zwei'))).toBe(true);
    expect(at(TWO, wordsFrame(TWO, ''))).toBe(false);
    expect(at({ ...TWO, id: 'longer-id' }, wordsFrame(TWO, 'zwei'))).toBe(false);
    expect(at(TWO, wordsFrame(TWO, 'zwei').replace('"host"', '"tsoh"'))).toBe(false);
    expect(at(TWO, wordsFrame(TWO, 'zwei').slice(0, 20))).toBe(false);
  });

  test('keeps neither the words nor the identity', () => {
    const raw = wordsFrame(ONE, 'secret');
    const shape = shapeOf(raw, writtenFrame(ONE, 'secret'), 'secret');
    const { seam, written } = wordsPattern(shape, ONE)!;
    for (const { bytes } of [seam, written!.template]) {
      const kept = Buffer.from(bytes.buffer).toString('latin1');
      expect(kept).not.toMatch(/secret|stream-1|1790000001/);
    }
  });

  test.each([
    ['has no id', (frame: string) => frame.replace('"id"', '"ID"')],
    ['has its id twice', (frame: string) => frame.replace('"model"', '"id":"stream-1","model"')],
    ['has no time', (frame: string) => frame.replace('"created"', '"at"')],
    ['has its time twice', (frame: string) => frame.replace('"model"', '"created":1790000001,"model"')],
  ])('is not made of a frame that %s', (_what, changed) => {
    const raw = changed(wordsFrame(ONE, 'one'));
    expect(wordsPattern(shapeOf(raw, null, 'one'), ONE)).toBeNull();
    const written = changed(writtenFrame(ONE, 'one'));
    expect(wordsPattern(shapeOf(wordsFrame(ONE, 'one'), written, 'one'), ONE)).toBeNull();
  });
});

describe('a pattern of a frame without words', () => {
  const written = ({ id, created }: StreamIdentity) => `data: {"end":true,"id":"${id}","created":${created}}\n\n`;

  test('matches the same frame of another stream, and writes it for that stream', () => {
    const bytes = Buffer.from(`junk${endFrame(TWO)}more`);
    const end = 4 + endFrame(TWO).length;
    const same = bareAt(barePattern(Buffer.from(endFrame(ONE)), null, ONE)!, TWO, bytes, 4);
    expect([same?.end, same?.bytes.toString()]).toEqual([end, endFrame(TWO)]);
    const rewritten = bareAt(barePattern(Buffer.from(endFrame(ONE)), written(ONE), ONE)!, TWO, bytes, 4);
    expect([rewritten?.end, rewritten?.bytes.toString()]).toEqual([end, written(TWO)]);
  });

  test('gives each frame its own padding, not the padding it was learned with', () => {
    const raw = endFrame(ONE, padded('secret'));
    const pattern = barePattern(Buffer.from(raw), raw, ONE)!;
    expect(Buffer.from(pattern.raw.bytes.buffer).toString('latin1')).not.toContain('secret');
    const next = endFrame(TWO, padded('xyz'));
    expect(bareAt(pattern, TWO, Buffer.from(next), 0)?.bytes.toString()).toBe(next);
  });

  test.each([
    ['has another identity', endFrame(ONE)],
    ['is cut', endFrame(TWO).slice(0, -1)],
    ['says something else', endFrame(TWO).replace('stop', 'size')],
    ['has padding where the learned one had none', endFrame(TWO, padded('x'))],
  ])('does not match a frame that %s', (_what, text) => {
    expect(bareAt(barePattern(Buffer.from(endFrame(ONE)), null, ONE)!, TWO, Buffer.from(text), 0)).toBeNull();
  });

  test.each([
    ['is half a character', Buffer.from([0xc3])],
    ['has an escape that only the parser reads', Buffer.from('\\u0041')],
    ['makes the frame larger than a frame may be', Buffer.alloc(LIMITS.sseFrameBytesMax, 'x')],
  ])('does not match where the padding %s', (_what, padding) => {
    const pattern = barePattern(Buffer.from(endFrame(ONE, padded('x'))), null, ONE)!;
    const [before, after] = endFrame(TWO, padded('PAD')).split('PAD');
    const bytes = Buffer.concat([Buffer.from(before!), padding, Buffer.from(after!)]);
    expect(bareAt(pattern, TWO, bytes, 0)).toBeNull();
  });

  test('is not made where only one of the two frames is padded', () => {
    expect(barePattern(Buffer.from(endFrame(ONE, padded('x'))), endFrame(ONE), ONE)).toBeNull();
  });

  test('reads the identity of a stream that begins with it, if that is plain', () => {
    const pattern = barePattern(Buffer.from(endFrame(ONE)), null, ONE)!;
    expect(identityAt(pattern, Buffer.from(endFrame(TWO)), 0)).toEqual(TWO);
    expect(identityAt(pattern, Buffer.from(endFrame({ ...TWO, id: 'quo"te-1' })), 0)).toBeNull();
    expect(identityAt(pattern, Buffer.from(endFrame({ ...TWO, created: '0790000002' })), 0)).toBeNull();
    expect(identityAt(pattern, Buffer.from('data: {}\n\n'), 0)).toBeNull();
    expect(mayBeAt(pattern, TWO, Buffer.from(endFrame(TWO)), 0)).toBe(true);
  });
});

/** Ids of one length, so that each may use what the other taught. */
const anyIdentity = fc.record({
  id: fc.string({ unit: fc.constantFrom(...'abc019.-_'), minLength: 8, maxLength: 8 }),
  created: fc.integer({ min: 1_000_000_000, max: 9_999_999_999 }).map(String),
});

test('whatever two streams are called, the second gets its own frame and nothing of the first', () => {
  fc.assert(
    fc.property(anyIdentity, anyIdentity, fc.stringMatching(/^[a-z0-9 ü橋]{1,12}$/), (one, two, words) => {
      const pattern = wordsPattern(shapeOf(wordsFrame(one, 'w'), writtenFrame(one, 'w'), 'w'), one);
      const bare = barePattern(Buffer.from(endFrame(one)), endFrame(one), one);
      if (pattern === null || bare === null) return;
      expect(adopted(pattern, two, wordsFrame(two, words))).toBe(writtenFrame(two, words));
      expect(bareAt(bare, two, Buffer.from(endFrame(two)), 0)?.bytes.toString()).toBe(endFrame(two));
    }),
    { numRuns: 500 },
  );
});
