import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { asksToReason, readReasoning } from './read-reasoning.ts';

const NOTHING = { effort: null, budgetTokens: null, hideReasoning: false, param: 'reasoning' };

describe('the spellings of one wish', () => {
  test.each([
    [{}, null],
    [{ reasoning: null, reasoning_effort: null }, null],
    [{ reasoning: {} }, null],
    [{ reasoning: { summary: 'auto' } }, null],
    [{ reasoning_effort: 'low' }, { ...NOTHING, effort: 'low', param: 'reasoning_effort' }],
    [{ reasoning: { effort: 'max' } }, { ...NOTHING, effort: 'max' }],
    [
      { reasoning: { effort: 'low' }, reasoning_effort: 'low' },
      { ...NOTHING, effort: 'low', param: 'reasoning_effort' },
    ],
    [{ reasoning: { max_tokens: 2000 } }, { ...NOTHING, budgetTokens: 2000 }],
    [{ reasoning: { enabled: true } }, { ...NOTHING, effort: 'medium' }],
    [{ reasoning: { enabled: false } }, { ...NOTHING, effort: 'none' }],
    [{ reasoning: { enabled: true, max_tokens: 9 } }, { ...NOTHING, budgetTokens: 9 }],
    [{ reasoning: { exclude: true } }, { ...NOTHING, hideReasoning: true }],
    [{ include_reasoning: false }, { ...NOTHING, hideReasoning: true }],
    [{ include_reasoning: true }, NOTHING],
  ])('%j', (body, ask) => {
    expect(readReasoning(body)).toEqual(ask);
  });
});

describe('what cannot be meant', () => {
  test.each([
    [{ reasoning_effort: 'low', reasoning: { effort: 'high' } }, 'reasoning_effort'],
    [{ reasoning: { effort: 'low', max_tokens: 5 } }, 'reasoning'],
    [{ reasoning_effort: 'low', reasoning: { max_tokens: 5 } }, 'reasoning.max_tokens'],
    [{ reasoning: { enabled: false, max_tokens: 5 } }, 'reasoning.enabled'],
    [{ reasoning: { enabled: true, effort: 'none' } }, 'reasoning.enabled'],
    [{ include_reasoning: true, reasoning: { exclude: true } }, 'include_reasoning'],
    [{ reasoning: { effort: 'huge' } }, 'reasoning.effort'],
    [{ reasoning: { max_tokens: 0 } }, 'reasoning.max_tokens'],
    [{ reasoning: { enabled: 'yes' } }, 'reasoning.enabled'],
    [{ reasoning: 'high' }, 'reasoning'],
    [{ reasoning_effort: 7 }, 'reasoning_effort'],
  ])('%j', (body, param) => {
    expect(() => readReasoning(body)).toThrow(GatewayError);
    expect(() => readReasoning(body)).toThrow(expect.objectContaining({ kind: 'invalid_value', param }));
  });
});

test('to hide a trace, or to switch thinking off, asks nothing of a model', () => {
  expect(asksToReason(NOTHING)).toBe(false);
  expect(asksToReason({ ...NOTHING, effort: 'none' })).toBe(false);
  expect(asksToReason({ ...NOTHING, effort: 'minimal' })).toBe(true);
  expect(asksToReason({ ...NOTHING, budgetTokens: 1 })).toBe(true);
});
