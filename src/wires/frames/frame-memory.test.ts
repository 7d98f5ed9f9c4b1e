import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { FrameMemory, StreamMemory } from './frame-memory.ts';
import type { StreamIdentity } from './frame-pattern.ts';
import { RepeatedFrames } from './repeated-frames.ts';

const wordsOf = (holder: Readonly<Record<string, unknown>>) => ({ names: ['content'], text: String(holder.content) });

const identityOf = (number: number): StreamIdentity => ({ id: `stream-${number}`, created: `179000000${number}` });

function frameOf({ id, created }: StreamIdentity, members: string): Buffer {
  return Buffer.from(`data: {"id":"${id}","created":${created},${members}}\n\n`);
}

const words = (number: number, said: string, kind = '') =>
  frameOf(identityOf(number), `"kind":"${kind}","content":"${said}"`);
const bare = (number: number, kind = '') => frameOf(identityOf(number), `"kind":"${kind}"`);

function learnWords(memory: FrameMemory, number: number, kind = ''): void {
  const shape = new RepeatedFrames(wordsOf).learn(words(number, 'w', kind), null, { content: 'w' })!;
  memory.learnWords(shape, identityOf(number));
}

describe('a frame memory', () => {
  test('knows frames with words, openings and ends from the stream that taught them', () => {
    const memory = new FrameMemory();
    learnWords(memory, 1);
    memory.learnOpening(bare(1, 'opening'), null, identityOf(1));
    memory.learnEnd(bare(1, 'end'), null, identityOf(1));
    const opening = memory.opening(bare(2, 'opening'), 0);
    expect(opening).toMatchObject({ identity: identityOf(2), passed: { end: bare(2, 'opening').length } });
    const own = new StreamMemory(memory, identityOf(2));
    const run = own.words(new RepeatedFrames(wordsOf), words(2, 'zwei'), 0);
    expect([run?.bytes.toString(), run?.wordBytes]).toEqual([words(2, 'zwei').toString(), 4]);
    expect(own.end(bare(2, 'end'), 0)?.bytes).toEqual(bare(2, 'end'));
    expect(memory.used).toBe(3);
  });

  test('does not take an end for an opening, nor a frame of another kind for either', () => {
    const memory = new FrameMemory();
    memory.learnOpening(bare(1, 'opening'), null, identityOf(1));
    memory.learnEnd(bare(1, 'end'), null, identityOf(1));
    const own = new StreamMemory(memory, identityOf(2));
    expect(memory.opening(bare(2, 'end'), 0)).toBeNull();
    expect(own.end(bare(2, 'opening'), 0)).toBeNull();
    expect(memory.used).toBe(0);
  });

  test('keeps the newest few patterns of each sort, and each once', () => {
    const memory = new FrameMemory();
    for (let kind = 0; kind < 3 * LIMITS.cachedFramesMax; kind++) {
      for (const number of [1, 2]) {
        learnWords(memory, number, `k${kind}`);
        memory.learnOpening(bare(number, `k${kind}`), null, identityOf(number));
        memory.learnEnd(bare(number, `k${kind}`), null, identityOf(number));
      }
    }
    const kept = [memory.words, memory.openings, memory.ends];
    expect(kept.map(({ length }) => length)).toEqual(Array(3).fill(LIMITS.cachedFramesMax));
    expect(memory.words.at(-1)!.seam.bytes.toString()).toContain('"k11"');
    expect(memory.opening(bare(2, 'k0'), 0)).toBeNull();
    for (const kind of ['k8', 'k9', 'k10', 'k11']) expect(memory.opening(bare(2, kind), 0)).not.toBeNull();
  });

  test('keeps no frame larger than the limit, whether it came or was written so', () => {
    const memory = new FrameMemory();
    const large = 'x'.repeat(LIMITS.cachedFrameBytesMax);
    learnWords(memory, 1, large);
    memory.learnEnd(bare(1, large), null, identityOf(1));
    memory.learnOpening(bare(1), bare(1, large).toString(), identityOf(1));
    expect([memory.words, memory.openings, memory.ends]).toEqual([[], [], []]);
  });

  test('learns less from a host that never repeats itself, and gives it another chance now and then', () => {
    const memory = new FrameMemory();
    const asked = Array.from({ length: 1000 }, () => memory.mayLearn());
    expect(asked.filter((may) => may).length).toBeLessThan(50);
    expect(asked.slice(0, 16)).not.toContain(false);
    expect(asked.slice(500)).toContain(true);
  });

  test('goes on learning from a host whose frames were often known', () => {
    const memory = new FrameMemory();
    for (let use = 0; use < 1000; use++) memory.noteUse();
    expect(Array.from({ length: 50 }, () => memory.mayLearn())).not.toContain(false);
  });
});

describe('a stream that recollects', () => {
  test('takes each pattern once: from then on it knows the frames itself', () => {
    const memory = new FrameMemory();
    learnWords(memory, 1);
    const own = new StreamMemory(memory, identityOf(2));
    const known = new RepeatedFrames(wordsOf);
    expect(own.words(known, words(2, 'one'), 0)).not.toBeNull();
    expect(known.find(words(2, 'two'), 0)).not.toBeNull();
    expect(own.words(known, words(2, 'two'), 0)).toBeNull();
  });

  test('gives up after a few frames that only looked like known ones', () => {
    const memory = new FrameMemory();
    learnWords(memory, 1);
    memory.learnEnd(bare(1, 'end'), null, identityOf(1));
    const own = new StreamMemory(memory, identityOf(2));
    const known = new RepeatedFrames(wordsOf);
    const alike = Buffer.from(words(2, 'x').toString().replace('"}\n\n', '","more":1}\n\n'));
    const notAnEnd = Buffer.from(bare(2, 'end').toString().replace('"created"', '"Created"'));
    for (let time = 0; time < 8; time++) {
      expect(own.words(known, alike, 0)).toBeNull();
      expect(own.end(notAnEnd, 0)).toBeNull();
    }
    expect(own.words(known, words(2, 'x'), 0)).toBeNull();
    expect(own.end(bare(2, 'end'), 0)).toBeNull();
    expect(new StreamMemory(memory, identityOf(3)).words(known, words(3, 'x'), 0)).not.toBeNull();
  });
});
