import { type FormEvent, type ReactNode, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Panel } from '../../parts/panel.tsx';
import { passwordRefusal } from './password-refusal.ts';

const PASSWORD_CHARS_MIN = 12;

export function PasswordForm(): ReactNode {
  const { tell } = useNotices();
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const replace = useChange('POST /me/password', { refreshes: ['GET /me/sessions'] });
  const isShort = password !== '' && password.length < PASSWORD_CHARS_MIN;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    replace.mutate(
      { input: { current, password } },
      {
        onSuccess: () => {
          setCurrent('');
          setPassword('');
          tell('Your password was changed. Your other sessions have ended.');
        },
      },
    );
  };
  return (
    <Panel title="Password">
      <form onSubmit={submit} className="flex flex-col gap-4 px-4 pb-4">
        <Field label="Current password">
          {(id) => (
            <TextInput
              id={id}
              type="password"
              autoComplete="current-password"
              value={current}
              onChange={setCurrent}
              required
            />
          )}
        </Field>
        <Field
          label="New password"
          hint={`At least ${PASSWORD_CHARS_MIN} characters. All other sessions end.`}
          error={isShort ? `At least ${PASSWORD_CHARS_MIN} characters.` : null}
        >
          {(id) => (
            <TextInput
              id={id}
              type="password"
              autoComplete="new-password"
              value={password}
              onChange={setPassword}
              required
            />
          )}
        </Field>
        <FormError error={passwordRefusal(replace.error)} />
        <Button
          type="submit"
          busy={replace.isPending}
          disabled={current === '' || password === '' || isShort}
          className="self-start"
        >
          Replace password
        </Button>
      </form>
    </Panel>
  );
}
