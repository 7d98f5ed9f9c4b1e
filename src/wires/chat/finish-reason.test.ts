import { expect, test } from 'vitest';
import { isFailure, mendFinishReason } from './finish-reason.ts';

test.each([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['function_call', 'function_call'],
  ['STOP', 'stop'],
  ['end_turn', 'stop'],
  ['eos', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['model_length', 'length'],
  ['tool_use', 'tool_calls'],
  ['SAFETY', 'content_filter'],
  ['max_time', 'max_time'],
  ['constructor', 'constructor'],
  ['', null],
  [null, null],
  [undefined, null],
  [7, null],
  [{}, null],
])('%j means %j', (reason, word) => {
  expect(mendFinishReason(reason, false)).toBe(word);
});

test('a stop after tool calls becomes tool_calls, and no other reason does', () => {
  expect(mendFinishReason('stop', true)).toBe('tool_calls');
  expect(mendFinishReason('end_turn', true)).toBe('tool_calls');
  expect(mendFinishReason('length', true)).toBe('length');
  expect(mendFinishReason(null, true)).toBeNull();
});

test.each(['error', 'abort', 'insufficient_system_resource'])('a host that says %s broke off', (reason) => {
  expect(isFailure(reason)).toBe(true);
});

test('no other reason is a failure', () => {
  expect(['stop', null, undefined, 'Error'].some(isFailure)).toBe(false);
});
