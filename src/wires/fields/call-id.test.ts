import { expect, test } from 'vitest';
import { acceptedCallId } from './call-id.ts';

const ACCEPTED = /^[\w-]{1,9}$/;

test('an id that the host takes stays', () => {
  expect(acceptedCallId('call_1', ACCEPTED)).toBe('call_1');
});

test('ids that it refuses become others, the same one for the same id', () => {
  const refused = ['', 'a:1', 'a.1', 'a'.repeat(10)];
  const written = refused.map((id) => acceptedCallId(id, ACCEPTED));
  expect(new Set(written).size).toBe(refused.length);
  for (const id of written) expect(id).toMatch(/^call_[0-9a-f]{24}$/);
  expect(refused.map((id) => acceptedCallId(id, ACCEPTED))).toEqual(written);
});
