import { type ReactNode, useState } from 'react';
import type { Account, Invited } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { OnceDialog } from '../../parts/once-dialog.tsx';
import { isCapWrong, NEW_ROLE, RoleFields, roleTerms } from './role-fields.tsx';

interface InviteDialogProps {
  /** Null invites an operator. */
  readonly account: Account | null;
  onClose(): void;
}

/** Makes the link of an invitation. Tollgate sends no email: the person who invites passes it on. */
export function InviteDialog({ account, onClose }: InviteDialogProps): ReactNode {
  const [email, setEmail] = useState('');
  const [draft, setDraft] = useState(NEW_ROLE);
  const [invited, setInvited] = useState<Invited | null>(null);
  const invite = useChange('POST /invitations', { refreshes: ['GET /invitations'], givesSecret: true });
  const terms = account === null ? { operator: true } : { account: account.id, ...roleTerms(draft) };
  if (invited !== null) return <LinkDialog invited={invited} onClose={onClose} />;
  return (
    <FormDialog
      title={account === null ? 'Invite an operator' : `Invite to “${account.name}”`}
      action="Make the link"
      busy={invite.isPending}
      error={invite.error}
      disabled={email.trim() === '' || isCapWrong(draft)}
      onSubmit={() => invite.mutate({ input: { email: email.trim(), ...terms } }, { onSuccess: setInvited })}
      onClose={onClose}
    >
      <Field label="Email address">
        {(id) => <TextInput id={id} type="email" value={email} onChange={setEmail} autoComplete="off" />}
      </Field>
      {account === null ? (
        <p className="text-muted">An operator sees and changes everything, in all accounts.</p>
      ) : (
        <RoleFields draft={draft} onChange={setDraft} />
      )}
    </FormDialog>
  );
}

export function LinkDialog({ invited, onClose }: { readonly invited: Invited; onClose(): void }): ReactNode {
  return (
    <OnceDialog
      title={invited.resets_password ? 'Link for a new password' : 'Invitation made'}
      secret={invited.link ?? invited.secret}
      copyLabel={invited.link === null ? 'Copy secret' : 'Copy link'}
      onClose={onClose}
    >
      Send this to {invited.email} yourself. It works once, for 24 hours, and is shown only here.
    </OnceDialog>
  );
}
