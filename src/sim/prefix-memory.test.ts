import { describe, expect, test } from 'vitest';
import { PrefixMemory } from './prefix-memory.ts';
import { countSegments, type PromptSegment } from './prompt.ts';

function segment(words: number, word = 'word', mark = 'user'): PromptSegment {
  return { mark, fixedTokens: 4, text: `${word} `.repeat(words).trimEnd() };
}

function recall(memory: PrefixMemory, segments: PromptSegment[], model = 'sim-gpt') {
  return memory.recall(model, segments, countSegments(segments));
}

describe('the prompt cache', () => {
  test('writes a long prompt the first time and reads it the second', () => {
    const memory = new PrefixMemory();
    expect(recall(memory, [segment(1500)])).toEqual({ cachedTokens: 0, cacheWriteTokens: 1408 });
    expect(recall(memory, [segment(1500)])).toEqual({ cachedTokens: 1408, cacheWriteTokens: 0 });
  });

  test('leaves a prompt of fewer than 1024 tokens alone', () => {
    const memory = new PrefixMemory();
    const short = [segment(1019)];
    expect(countSegments(short)).toBe(1023);
    recall(memory, short);
    expect(recall(memory, short)).toEqual({ cachedTokens: 0, cacheWriteTokens: 0 });
    expect(recall(memory, [segment(1020)])).toEqual({ cachedTokens: 0, cacheWriteTokens: 1024 });
  });

  test('reads the common prefix and writes what follows it', () => {
    const memory = new PrefixMemory();
    const shared = segment(2000, 'word', 'system');
    recall(memory, [shared, segment(100, 'one')]);
    const second = recall(memory, [shared, segment(600, 'two')]);
    expect(second.cachedTokens).toBe(1920);
    expect(second.cachedTokens + second.cacheWriteTokens).toBe(2560);
  });

  test('does not confuse models, roles or images', () => {
    const memory = new PrefixMemory();
    recall(memory, [segment(1500)]);
    expect(recall(memory, [segment(1500)], 'sim-gpt-mini').cachedTokens).toBe(0);
    expect(recall(memory, [segment(1500, 'word', 'system')]).cachedTokens).toBe(0);
    expect(recall(memory, [{ mark: 'a.png', fixedTokens: 85, text: '' }, segment(1500)]).cachedTokens).toBe(0);
    expect(recall(memory, [{ mark: 'b.png', fixedTokens: 85, text: '' }, segment(1500)]).cachedTokens).toBe(0);
  });

  test('forgets the least recently used prefix first, and everything when told', () => {
    const memory = new PrefixMemory(2);
    const [one, two, three] = ['one', 'two', 'three'].map((word) => [segment(1050, word)]);
    recall(memory, one!);
    recall(memory, two!);
    recall(memory, one!);
    recall(memory, three!);
    expect(recall(memory, one!).cachedTokens).toBe(1024);
    expect(recall(memory, two!).cachedTokens).toBe(0);
    memory.forgetAll();
    expect(recall(memory, two!).cachedTokens).toBe(0);
  });
});
