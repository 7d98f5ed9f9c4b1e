import { type ReactNode, useState } from 'react';
import type { MemberSpending } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { ConfirmDialog, FormDialog } from '../../parts/dialog.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { isCapWrong, RoleFields, roleChanges, roleDraftOf } from './role-fields.tsx';

interface MemberDialogProps {
  readonly member: MemberSpending;
  onClose(): void;
}

/** Owners may name people only by their email addresses. */
function placeOf({ account, email }: MemberSpending): { readonly account: string; readonly person: string } {
  return { account, person: email };
}

const OWNER_ENDS =
  'Unless they are an operator, the management keys they minted here are revoked, and their own keys lose their permissions.';

export function ChangeMemberDialog({ member, onClose }: MemberDialogProps): ReactNode {
  const { tell } = useNotices();
  const [draft, setDraft] = useState(() => roleDraftOf(member));
  const save = useChange('PATCH /accounts/{account}/members/{person}', {
    refreshes: ['GET /accounts/{account}/members', 'GET /me', 'GET /keys', 'GET /management-keys'],
  });
  const endsOwner = member.role === 'owner' && draft.role !== 'owner';
  const changes = roleChanges(roleDraftOf(member), draft);
  const submit = (): void =>
    save.mutate(
      { input: { ...placeOf(member), ...changes } },
      {
        onSuccess: ({ name, role }) => {
          tell(`${name} is ${role === 'owner' ? 'an' : 'a'} ${role}.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={`Change the role of ${member.name}`}
      action="Save changes"
      busy={save.isPending}
      error={save.error}
      disabled={isCapWrong(draft)}
      onSubmit={Object.keys(changes).length === 0 ? onClose : submit}
      onClose={onClose}
    >
      <RoleFields draft={draft} roleHint={endsOwner ? OWNER_ENDS : undefined} onChange={setDraft} />
    </FormDialog>
  );
}

export function RemoveMemberDialog({ member, onClose }: MemberDialogProps): ReactNode {
  const { tell } = useNotices();
  const remove = useChange('DELETE /accounts/{account}/members/{person}', {
    // Owners may remove themselves.
    refreshes: [
      ...(['GET /me', 'GET /accounts', 'GET /accounts/{account}/members', 'GET /invitations'] as const),
      ...(['GET /keys', 'GET /management-keys'] as const),
    ],
  });
  const onSuccess = (): void => {
    tell(`${member.name} no longer has a role here.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Remove ${member.name}`}
      action="Remove member"
      busy={remove.isPending}
      error={remove.error}
      onSubmit={() => remove.mutate({ input: placeOf(member) }, { onSuccess })}
      onClose={onClose}
    >
      Their role in this account ends at once, their keys here stop working, and open invitations are revoked. Receipts
      and the cap stay.
      {member.role === 'owner' ? ` ${OWNER_ENDS}` : ''}
    </ConfirmDialog>
  );
}
