import { expect, test } from 'vitest';
import { invitedTo } from './invited-to.ts';

test('an invitation says what it invites to, even if it gives no role', () => {
  expect(invitedTo({ operator: true, role: null })).toBe('be an operator of this gateway');
  expect(invitedTo({ operator: false, role: 'owner' })).toBe('be an owner of an account');
  expect(invitedTo({ operator: false, role: 'viewer' })).toBe('be a viewer of an account');
  expect(invitedTo({ operator: false, role: null })).toBe('sign in to this gateway');
});
