import { type FormEvent, type ReactNode, useState } from 'react';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { Panel } from '../../parts/panel.tsx';
import { passwordRefusal } from './password-refusal.ts';

/** Links the person to their identity at the sign-on provider, if one is set up. The browser goes there and comes back. */
export function SingleSignOn(): ReactNode {
  const ways = useApi('GET /sign-in', {}, { staleMs: 60_000 });
  const [password, setPassword] = useState('');
  const link = useChange('POST /sso/link');
  const provider = ways.data?.single_sign_on ?? null;
  if (provider === null) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    link.mutate(
      { input: password === '' ? {} : { password } },
      { onSuccess: ({ url }) => window.location.assign(url) },
    );
  };
  return (
    <Panel title="Single sign-on">
      <form onSubmit={submit} className="flex flex-col gap-4 px-4 pb-4">
        <p className="text-muted">
          Sign in with {new URL(provider.issuer).hostname} instead of a password. Your other sessions end.
        </p>
        <Field label="Password" hint="Not needed within ten minutes after signing in.">
          {(id) => (
            <TextInput
              id={id}
              type="password"
              autoComplete="current-password"
              value={password}
              onChange={setPassword}
            />
          )}
        </Field>
        <FormError error={passwordRefusal(link.error)} />
        <Button type="submit" busy={link.isPending} className="self-start">
          Link single sign-on
        </Button>
      </form>
    </Panel>
  );
}
