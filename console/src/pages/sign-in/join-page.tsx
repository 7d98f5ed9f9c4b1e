import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type ApiError, call, type Output } from '../../api/client.ts';
import { forgetInvitation, invitationSecret } from '../../api/invitation-secret.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel, FormError } from '../../parts/error-panel.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { invitedTo } from './invited-to.ts';
import { SignInFrame } from './sign-in-frame.tsx';
import { PasswordForm, SsoLink } from './sign-in-page.tsx';

const PASSWORD_CHARS_MIN = 12;
const NOT_FOUND = 404;

type Link = Output<'POST /invitations/read'>;

/** Where the link of an invitation or of a new password leads. It asks only for what the link needs. */
export default function JoinPage(): ReactNode {
  const [secret] = useState(invitationSecret);
  const link = useLink(secret);
  if (secret === '')
    return (
      <SignInFrame title="This link is not complete">
        <p className="text-muted">Open the whole link of the invitation, with everything after the #.</p>
      </SignInFrame>
    );
  if (link.error?.status === NOT_FOUND)
    return (
      <SignInFrame title="This link does not work any more">
        <p className="text-muted">
          It was used or revoked, it is older than a day, or its sender may no longer invite. Ask for a new one.
        </p>
        <a href="/console" className="font-medium text-accent hover:underline">
          Go to the console
        </a>
      </SignInFrame>
    );
  if (link.error !== null) return <ErrorPanel error={link.error} again={() => void link.refetch()} />;
  if (link.data === undefined) return null;
  const { purpose, signed_in: signedIn } = link.data;
  if (purpose === 'existing_person' && signedIn !== 'this_person') return <SignInFirst link={link.data} />;
  return <AcceptForm secret={secret} link={link.data} />;
}

/** A POST, because no server logs its body, which has the secret. It is sent again when somebody has signed in. */
function useLink(secret: string): UseQueryResult<Link, ApiError> {
  return useQuery<Link, ApiError>({
    queryKey: ['POST /invitations/read'],
    queryFn: ({ signal }) => call('POST /invitations/read', { secret }, { signal }),
    enabled: secret !== '',
  });
}

const WORDS: Readonly<Record<Link['purpose'], { readonly title: string; readonly action: string }>> = {
  new_person: { title: 'Accept the invitation', action: 'Accept' },
  existing_person: { title: 'Accept the invitation', action: 'Accept' },
  new_password: { title: 'Choose a new password', action: 'Set password' },
};

function AcceptForm({ secret, link }: { readonly secret: string; readonly link: Link }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const accept = useChange('POST /invitations/accept');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [isChecked, setChecked] = useState(false);
  const { purpose, email } = link;
  const [needsName, needsPassword] = [purpose === 'new_person', purpose !== 'existing_person'];
  const isNameless = needsName && name.trim() === '';
  const isShort = needsPassword && password.length < PASSWORD_CHARS_MIN;
  const enter = async (): Promise<void> => {
    forgetInvitation();
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'POST /invitations/read' });
    // Back does not lead to an invitation that is used up.
    await navigate({ to: '/', hash: '', replace: true });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setChecked(true);
    if (isNameless || isShort) return;
    const given = { secret, ...(needsName ? { name: name.trim() } : {}), ...(needsPassword ? { password } : {}) };
    accept.mutate({ input: given }, { onSuccess: () => void enter() });
  };
  return (
    <SignInFrame title={WORDS[purpose].title}>
      <p className="text-muted wrap-anywhere">
        {purpose === 'new_password' ? `For ${email}. Setting it ends every other way to sign in as you.` : null}
        {purpose === 'new_password' ? null : `${email} is invited to ${invitedTo(link)}.`}
      </p>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {/* With it, a browser that keeps passwords knows whose this one is. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        {needsName ? (
          <Field label="Your name" error={isChecked && isNameless ? 'Enter your name.' : null}>
            {(id) => <TextInput id={id} value={name} onChange={setName} autoComplete="name" maxLength={100} />}
          </Field>
        ) : null}
        {needsPassword ? (
          <Field
            label="Password"
            hint={`At least ${PASSWORD_CHARS_MIN} characters.`}
            error={(isChecked || password !== '') && isShort ? `At least ${PASSWORD_CHARS_MIN} characters.` : null}
          >
            {(id) => (
              <TextInput id={id} type="password" autoComplete="new-password" value={password} onChange={setPassword} />
            )}
          </Field>
        ) : null}
        <FormError error={accept.error} />
        <Button type="submit" tone="primary" busy={accept.isPending} className="h-8">
          {WORDS[purpose].action}
        </Button>
      </form>
      {purpose === 'new_person' ? <OrSso /> : null}
    </SignInFrame>
  );
}

/** Single sign-on gives the roles of all invitations for the address by itself, and leads to the console. */
function OrSso(): ReactNode {
  const { data: ways } = useApi('GET /sign-in', {}, { staleMs: 60_000 });
  return ways?.single_sign_on ? <SsoLink sso={ways.single_sign_on} /> : null;
}

/** A link alone does not prove who holds it. */
function SignInFirst({ link: { email, signed_in: signedIn, ...link } }: { readonly link: Link }): ReactNode {
  return (
    <SignInFrame title="Sign in to accept the invitation">
      <p className="text-muted wrap-anywhere">
        {email} has signed in here before, and is now invited to {invitedTo(link)}.
        {signedIn === 'somebody_else' ? ' This browser is signed in as somebody else.' : null} Sign in with that address
        to go on.
      </p>
      <PasswordForm email={email} />
      <OrSso />
    </SignInFrame>
  );
}
