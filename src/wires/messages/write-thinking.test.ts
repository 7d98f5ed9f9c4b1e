import { describe, expect, test } from 'vitest';
import { refusalOf } from '../../../test/messages-request.ts';
import type { Effort } from '../../canonical/reasoning.ts';
import type { CanonicalReasoning } from '../../canonical/request.ts';
import type { HubRequestTerms } from '../hub.ts';
import { writeThinking } from './write-thinking.ts';

function asked(effort: Effort | null, budgetTokens: number | null = null): CanonicalReasoning {
  return { effort, budgetTokens };
}

function terms(
  thinking: HubRequestTerms['thinking'],
  reasoningEffort: string | null,
  outputLimit = 10_000,
): HubRequestTerms {
  return { hostModel: 'm', stream: false, outputLimit, outputLimitField: 'max_tokens', reasoningEffort, thinking };
}

const NOTHING = { thinking: null, effort: null };

describe('models that take a budget', () => {
  test.each<[Effort, number]>([
    ['minimal', 1024],
    ['low', 2000],
    ['medium', 5000],
    ['high', 8000],
    ['xhigh', 9500],
    ['max', 9500],
  ])('%s of 10,000 tokens is %i', (effort, budget_tokens) => {
    expect(writeThinking(asked(effort), terms('budget', effort))).toEqual({
      thinking: { type: 'enabled', budget_tokens },
      effort: null,
    });
  });

  test('the level the model has counts, not the one asked for', () => {
    expect(writeThinking(asked('max'), terms('budget', 'high')).thinking).toMatchObject({ budget_tokens: 8000 });
  });

  test('a budget of the caller’s is kept, but never below the least', () => {
    expect(writeThinking(asked(null, 3000), terms('budget', 'low')).thinking).toMatchObject({ budget_tokens: 3000 });
    expect(writeThinking(asked(null, 10), terms('budget', 'minimal')).thinking).toMatchObject({ budget_tokens: 1024 });
  });

  test('no room for the answer is refused, saying how large the limit must be', () => {
    const cramped = () => writeThinking(asked('low'), terms('budget', 'low', 1024));
    expect(refusalOf(cramped)).toEqual({ code: 'invalid_value', param: 'max_tokens' });
    expect(cramped).toThrow(/must be at least 1025/);
    expect(() => writeThinking(asked(null, 20_000), terms('budget', 'max'))).toThrow(/must be at least 20001/);
    expect(writeThinking(asked('low'), terms('budget', 'low', 1025)).thinking).toMatchObject({ budget_tokens: 1024 });
  });

  test('none switches thinking off', () => {
    expect(writeThinking(asked('none'), terms('budget', 'none', 10))).toEqual({
      thinking: { type: 'disabled' },
      effort: null,
    });
  });
});

describe('models that take a word', () => {
  test.each<[Effort, string]>([
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['xhigh', 'xhigh'],
    ['max', 'max'],
  ])('%s is %s, and the trace is asked for', (effort, word) => {
    expect(writeThinking(asked(effort), terms('effort', effort, 64))).toEqual({
      thinking: { type: 'adaptive', display: 'summarized' },
      effort: word,
    });
  });

  test('a budget has become a word on the way', () => {
    expect(writeThinking(asked(null, 3000), terms('effort', 'medium'))).toMatchObject({ effort: 'medium' });
    expect(writeThinking(asked(null, 3000), terms('effort', null))).toEqual(NOTHING);
  });

  test('none switches thinking off', () => {
    expect(writeThinking(asked('none'), terms('effort', 'none'))).toMatchObject({ thinking: { type: 'disabled' } });
  });
});

test('nothing is said where nothing was asked, or where the model has no choice', () => {
  expect(writeThinking(null, terms('budget', null))).toEqual(NOTHING);
  expect(writeThinking(asked('high'), terms(null, null))).toEqual(NOTHING);
  expect(writeThinking(asked(null), terms('budget', null))).toEqual(NOTHING);
});
