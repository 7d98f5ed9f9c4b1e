import type { Output } from '../../api/client.ts';

/** What follows "is invited to". Without a role, somebody signs in and sees nothing until they are given one. */
export function invitedTo({ operator, role }: Pick<Output<'POST /invitations/read'>, 'operator' | 'role'>): string {
  if (operator) return 'be an operator of this gateway';
  if (role === null) return 'sign in to this gateway';
  return role === 'owner' ? 'be an owner of an account' : `be a ${role} of an account`;
}
