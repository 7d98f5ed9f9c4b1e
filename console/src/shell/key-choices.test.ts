import { expect, test } from 'vitest';
import { keyChoices } from './key-choices.ts';

test('keys that share a name are told apart by their hint, and others are not cluttered with it', () => {
  const keys = [
    { id: 'key_1', name: 'agent', hint: 'tg_live_…a1' },
    { id: 'key_2', name: 'laptop', hint: 'tg_live_…b2' },
    { id: 'key_3', name: 'agent', hint: 'tg_live_…c3' },
  ];
  expect(keyChoices(keys)).toEqual([
    { value: 'key_1', label: 'agent (tg_live_…a1)' },
    { value: 'key_2', label: 'laptop' },
    { value: 'key_3', label: 'agent (tg_live_…c3)' },
  ]);
});
