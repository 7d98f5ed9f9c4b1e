import { expect, test } from 'vitest';
import { PLAIN, peekAt, refusalOf } from '../../../test/messages-request.ts';

test('the reasoning fields of every wire are understood too, and need the capability', () => {
  const { reasoning, needs, size } = peekAt({ ...PLAIN, reasoning_effort: 'minimal' });
  expect(reasoning).toMatchObject({ effort: 'minimal', budgetTokens: null });
  expect(needs).toContainEqual({ capability: 'reasoning', param: 'reasoning_effort' });
  expect(size).toEqual(peekAt(PLAIN).size);
  expect(peekAt({ ...PLAIN, reasoning: { max_tokens: 30 } })).toMatchObject({ reasoning: { budgetTokens: 30 } });
  expect(peekAt({ ...PLAIN, reasoning_effort: 'none' }).needs).toHaveLength(1);
});

test('the reasoning fields of every wire must not contradict `thinking`', () => {
  const both = (fields: object) => refusalOf(() => peekAt({ ...PLAIN, thinking: { type: 'disabled' }, ...fields }));
  expect(both({ reasoning_effort: 'none' })).toBeNull();
  expect(both({ reasoning_effort: 'low' })).toEqual({ code: 'invalid_value', param: 'reasoning_effort' });
  expect(both({ reasoning: { max_tokens: 30 } })).toEqual({ code: 'invalid_value', param: 'reasoning' });
});

test('an unknown member of `reasoning` is refused, because the object is not sent to hosts', () => {
  const refused = refusalOf(() => peekAt({ ...PLAIN, reasoning: { effort: 'low', depth: 3 } }));
  expect(refused).toEqual({ code: 'unsupported_parameter', param: 'reasoning.depth' });
});

test.each([
  [{ reasoning: 'high' }, 'reasoning'],
  [{ reasoning_effort: 'most' }, 'reasoning_effort'],
  [{ include_reasoning: 1 }, 'include_reasoning'],
])('%j is refused as a wrong value', (fields, param) => {
  expect(refusalOf(() => peekAt({ ...PLAIN, ...fields }))).toEqual({ code: 'invalid_value', param });
});

test.each([
  [
    { thinking: { type: 'adaptive' }, reasoning_effort: 'medium' },
    { effort: 'medium', budgetTokens: null },
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 20 }, reasoning: { enabled: true } },
    { effort: null, budgetTokens: 20 },
  ],
  [
    { thinking: { type: 'adaptive' }, reasoning: { enabled: true } },
    { effort: 'high', budgetTokens: null },
  ],
  [
    { output_config: { effort: 'high' }, reasoning: { enabled: true } },
    { effort: 'high', budgetTokens: null },
  ],
])('%j agree: only what was written can contradict', (fields, reasoning) => {
  expect(peekAt({ ...PLAIN, ...fields })).toMatchObject({ reasoning });
});

test.each([
  { thinking: { type: 'adaptive' }, reasoning: { max_tokens: 20 } },
  { thinking: { type: 'adaptive' }, reasoning_effort: 'none' },
  { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, reasoning_effort: 'medium' },
  { thinking: { type: 'enabled', budget_tokens: 20 }, reasoning_effort: 'medium' },
])('%j contradict each other', (fields) => {
  expect(refusalOf(() => peekAt({ ...PLAIN, ...fields }))).toMatchObject({ code: 'invalid_value' });
});
