import type { Output } from '../../api/client.ts';

type Invited = Pick<Output<'POST /invitations/read'>, 'operator' | 'role' | 'account_name'>;

/** What follows "is invited to". Without a role, somebody signs in and sees nothing until they are given one. */
export function invitedTo({ operator, role, account_name }: Invited): string {
  if (operator) return 'be an operator of this gateway';
  if (role === null) return 'sign in to this gateway';
  const account = account_name === null ? 'an account' : `“${account_name}”`;
  return `be ${role === 'owner' ? 'an' : 'a'} ${role} of ${account}`;
}
