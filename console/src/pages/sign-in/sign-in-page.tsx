import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { forgetAddress, rememberAddress } from '../../api/return-address.ts';
import { askOtherTabs, keepToken, localToken } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorPanel, FormError } from '../../parts/error-panel.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { useFilters } from '../../shell/search.ts';
import { SignInFrame } from './sign-in-frame.tsx';
import { ssoFailure } from './sso-failure.ts';

interface SignInPageProps {
  /** Whether the page that somebody was on waits behind this one, because their session has ended. */
  readonly hasEnded: boolean;
}

/** The page for signing in: with a password or single sign-on in hosted mode, with the link from the terminal in local mode. */
export default function SignInPage({ hasEnded }: SignInPageProps): ReactNode {
  const ways = useApi('GET /sign-in', {}, { staleMs: 60_000 });
  // In local mode nobody signs in, so there is no such route.
  if (ways.error !== null && [401, 404].includes(ways.error.status)) return <LocalEntrance />;
  if (ways.error !== null) return <ErrorPanel error={ways.error} again={() => void ways.refetch()} />;
  if (ways.data === undefined) return null;
  return (
    <SignInFrame title="Sign in">
      {ways.data.unavailable === null ? (
        <WaysToSignIn ways={ways.data} hasEnded={hasEnded} />
      ) : (
        <FormError error={ways.data.unavailable} />
      )}
    </SignInFrame>
  );
}

interface WaysProps extends SignInPageProps {
  readonly ways: Output<'GET /sign-in'>;
}

function WaysToSignIn({ ways, hasEnded }: WaysProps): ReactNode {
  const { search } = useFilters();
  return (
    <>
      {hasEnded ? (
        <p role="status" className="text-muted">
          Your session has ended. Sign in again to go on where you were.
        </p>
      ) : null}
      <FormError error={ssoFailure(search.sso)} />
      {ways.password ? <PasswordForm /> : null}
      {ways.single_sign_on === null ? null : (
        // In this tab, the page that waits would be gone.
        <SsoLink sso={ways.single_sign_on} {...(hasEnded ? { isNewTab: true } : { onClick: rememberAddress })} />
      )}
      <p className="text-small text-muted">
        No account yet, or the password is lost? Ask the operator or an owner of your account for a link.
      </p>
    </>
  );
}

interface SsoLinkProps {
  readonly sso: NonNullable<Output<'GET /sign-in'>['single_sign_on']>;
  readonly isNewTab?: boolean;
  onClick?(): void;
}

export function SsoLink({ sso, isNewTab = false, onClick }: SsoLinkProps): ReactNode {
  return (
    <a
      href={sso.start}
      {...(isNewTab ? { target: '_blank' } : {})}
      onClick={onClick}
      className="inline-flex h-8 items-center justify-center rounded-control border border-line-strong font-medium hover:bg-raised"
    >
      Continue with {new URL(sso.issuer).hostname}
      {isNewTab ? ' in a new tab' : null}
    </a>
  );
}

/** With an address if it is known who has to sign in. */
export function PasswordForm({ email: known = '' }: { readonly email?: string }): ReactNode {
  const client = useQueryClient();
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const { change } = useFilters();
  const signIn = useChange('POST /sign-in');
  const enter = (): void => {
    forgetAddress();
    change({ sso: undefined }, { replace: true });
    void client.invalidateQueries();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate({ input: { email, password } }, { onSuccess: enter });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Field label="Email address">
        {(id) => <TextInput id={id} type="email" autoComplete="username" required value={email} onChange={setEmail} />}
      </Field>
      <Field label="Password">
        {(id) => (
          <TextInput
            id={id}
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={setPassword}
          />
        )}
      </Field>
      <FormError error={signIn.error} />
      <Button type="submit" tone="primary" busy={signIn.isPending} className="h-8">
        Sign in
      </Button>
    </form>
  );
}

/** A tab that was opened without the link. If another tab of the console is open, it has the token. */
function LocalEntrance(): ReactNode {
  const client = useQueryClient();
  const [text, setText] = useState('');
  const hadToken = localToken() !== null;
  const enter = useCallback(
    (token: string): void => {
      keepToken(token);
      void client.invalidateQueries();
    },
    [client],
  );
  useEffect(() => askOtherTabs(enter), [enter]);
  const open = (event: FormEvent): void => {
    event.preventDefault();
    enter(tokenIn(text));
  };
  return (
    <SignInFrame title={hadToken ? 'This link does not work here' : 'Open the console'}>
      <p className="text-muted">
        Open the link that <code className="font-mono text-small">tollgate serve</code> prints, or paste it here. It
        belongs to the data folder of the gateway.
      </p>
      <form onSubmit={open} className="flex flex-col gap-4">
        <Field label="Link or token">
          {(id) => <TextInput id={id} value={text} onChange={setText} autoComplete="off" spellCheck={false} required />}
        </Field>
        <Button type="submit" tone="primary" className="h-8" disabled={text.trim() === ''}>
          Open the console
        </Button>
      </form>
    </SignInFrame>
  );
}

function tokenIn(text: string): string {
  const [, token] = /[#&]token=([^&\s]+)/.exec(text) ?? [];
  return token ?? text.trim();
}
