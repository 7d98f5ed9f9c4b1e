import { describe, expect, test } from 'vitest';
import { refusalBy } from '../../../test/chat-wire.ts';
import { EFFORTS } from '../../canonical/reasoning.ts';
import { readWithheldReasoning as readReasoning } from './read-reasoning.ts';

const nothing = { effort: null, budgetTokens: null, hideReasoning: false };

describe('the spellings of one wish', () => {
  test('every word of the vocabulary is read, in either place', () => {
    for (const effort of EFFORTS) {
      expect(readReasoning({ reasoning_effort: effort })).toMatchObject({ effort, param: 'reasoning_effort' });
      expect(readReasoning({ reasoning: { effort } })).toMatchObject({ effort, param: 'reasoning' });
    }
  });

  test.each([
    [{}, null],
    [{ reasoning_effort: null, reasoning: null, include_reasoning: null }, null],
    [{ reasoning: {} }, null],
    [{ reasoning: { effort: null, max_tokens: null } }, null],
    [{ reasoning: { max_tokens: 2000 } }, { ...nothing, budgetTokens: 2000 }],
    [{ reasoning: { enabled: true } }, { ...nothing, effort: 'medium' }],
    [{ reasoning: { enabled: false } }, { ...nothing, effort: 'none' }],
    [{ reasoning: { enabled: true, max_tokens: 2000 } }, { ...nothing, budgetTokens: 2000 }],
    [{ reasoning: { enabled: true, effort: 'high' } }, { ...nothing, effort: 'high' }],
    [
      { reasoning: { enabled: true }, reasoning_effort: 'high' },
      { ...nothing, effort: 'high' },
    ],
    [
      { reasoning: { effort: 'low' }, reasoning_effort: 'low' },
      { ...nothing, effort: 'low' },
    ],
    [{ reasoning: { exclude: true } }, { ...nothing, hideReasoning: true }],
    [{ include_reasoning: false }, { ...nothing, hideReasoning: true }],
    [{ include_reasoning: true }, nothing],
    [{ include_reasoning: true, reasoning: { exclude: false } }, nothing],
    [
      { include_reasoning: false, reasoning: { exclude: true } },
      { ...nothing, hideReasoning: true },
    ],
  ])('%j', (body, ask) => {
    const read = readReasoning(body);
    if (ask === null) expect(read).toBeNull();
    else expect(read).toMatchObject(ask);
  });
});

describe('refused', () => {
  test.each([
    [{ reasoning_effort: 'low', reasoning: { effort: 'high' } }, 'reasoning_effort'],
    [{ reasoning_effort: 'low', reasoning: { max_tokens: 2000 } }, 'reasoning.max_tokens'],
    [{ reasoning: { effort: 'low', max_tokens: 2000 } }, 'reasoning'],
    [{ reasoning: { enabled: false, effort: 'low' } }, 'reasoning.enabled'],
    [{ reasoning: { enabled: false, max_tokens: 2000 } }, 'reasoning.enabled'],
    [{ reasoning: { enabled: true, effort: 'none' } }, 'reasoning.enabled'],
    [{ reasoning: { enabled: true }, reasoning_effort: 'none' }, 'reasoning.enabled'],
    [{ reasoning: { enabled: false }, reasoning_effort: 'high' }, 'reasoning.enabled'],
    [{ include_reasoning: true, reasoning: { exclude: true } }, 'include_reasoning'],
    [{ include_reasoning: false, reasoning: { exclude: false } }, 'include_reasoning'],
  ])('the contradiction %j', (body, param) => {
    expect(refusalBy(() => readReasoning(body))).toMatchObject({
      code: 'invalid_value',
      param,
      message: expect.stringContaining('contradict'),
    });
  });

  test.each([
    [{ reasoning_effort: 'ultra' }, 'reasoning_effort'],
    [{ reasoning_effort: 3 }, 'reasoning_effort'],
    [{ reasoning: 'high' }, 'reasoning'],
    [{ reasoning: { effort: 'HIGH' } }, 'reasoning.effort'],
    [{ reasoning: { max_tokens: 0 } }, 'reasoning.max_tokens'],
    [{ reasoning: { max_tokens: 1.5 } }, 'reasoning.max_tokens'],
    [{ reasoning: { enabled: 'yes' } }, 'reasoning.enabled'],
    [{ reasoning: { exclude: 1 } }, 'reasoning.exclude'],
    [{ include_reasoning: 'no' }, 'include_reasoning'],
  ])('the value in %j', (body, param) => {
    expect(refusalBy(() => readReasoning(body))).toMatchObject({ code: 'invalid_value', param });
  });

  test('a member that no host would ever see', () => {
    expect(refusalBy(() => readReasoning({ reasoning: { effort: 'low', summary: 'auto' } }))).toMatchObject({
      code: 'unsupported_parameter',
      param: 'reasoning.summary',
    });
  });
});
