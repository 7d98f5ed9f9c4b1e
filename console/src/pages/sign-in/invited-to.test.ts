import { expect, test } from 'vitest';
import { invitedTo } from './invited-to.ts';

test('an invitation says what it invites to, even if it gives no role or may not name its account', () => {
  const gateway = { account_name: null, operator: false, role: null };
  expect(invitedTo({ ...gateway, operator: true })).toBe('be an operator of this gateway');
  expect(invitedTo(gateway)).toBe('sign in to this gateway');
  expect(invitedTo({ ...gateway, role: 'owner' })).toBe('be an owner of an account');
  expect(invitedTo({ ...gateway, role: 'viewer', account_name: 'acme' })).toBe('be a viewer of “acme”');
});
