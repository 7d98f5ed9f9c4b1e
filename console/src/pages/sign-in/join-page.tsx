import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { forgetInvitation, invitationSecret } from '../../api/invitation-secret.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { SignInFrame } from './sign-in-frame.tsx';

const PASSWORD_CHARS_MIN = 12;

/** Where the link of an invitation or of a new password leads. */
export default function JoinPage(): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [secret] = useState(invitationSecret);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useChange('POST /invitations/accept');
  const isShort = password !== '' && password.length < PASSWORD_CHARS_MIN;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const given = { secret, ...(name === '' ? {} : { name }), ...(password === '' ? {} : { password }) };
    accept.mutate({ input: given }, { onSuccess: () => void enter() });
  };
  const enter = async (): Promise<void> => {
    forgetInvitation();
    await client.invalidateQueries();
    // Back does not lead to an invitation that is used up.
    await navigate({ to: '/', hash: '', replace: true });
  };
  if (secret === '')
    return (
      <SignInFrame title="This link is not complete">
        <p className="text-muted">Open the whole link of the invitation, with everything after the #.</p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Accept the invitation">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field
          label="Your name"
          hint="Leave it empty if you are signed in already, or if the link is for a new password."
        >
          {(id) => <TextInput id={id} value={name} onChange={setName} autoComplete="name" />}
        </Field>
        <Field
          label="Password"
          hint={`At least ${PASSWORD_CHARS_MIN} characters. Leave it empty if you are signed in already.`}
          error={isShort ? `At least ${PASSWORD_CHARS_MIN} characters.` : null}
        >
          {(id) => (
            <TextInput id={id} type="password" autoComplete="new-password" value={password} onChange={setPassword} />
          )}
        </Field>
        <FormError error={accept.error} />
        <Button type="submit" tone="primary" busy={accept.isPending} className="h-8" disabled={isShort}>
          Continue
        </Button>
      </form>
    </SignInFrame>
  );
}
