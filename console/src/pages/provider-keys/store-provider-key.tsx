import { type ReactNode, useState } from 'react';
import type { Account, ProviderKey } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { useNotices } from '../../parts/notices.tsx';

const PROVIDER = 'cloud';

interface StoreProps {
  readonly account: Account;
  readonly stored: readonly ProviderKey[];
  onClose(): void;
}

/** Stores a key after the provider has accepted it. It replaces the previous one. */
export function StoreProviderKeyDialog({ account, stored, onClose }: StoreProps): ReactNode {
  const { tell } = useNotices();
  const before = stored.find(({ provider }) => provider === PROVIDER);
  const [apiKey, setApiKey] = useState('');
  const [url, setUrl] = useState(before?.base_url ?? '');
  const put = useChange('PUT /accounts/{account}/provider-keys/{provider}', {
    refreshes: ['GET /accounts/{account}/provider-keys'],
  });
  const submit = (): void =>
    put.mutate(
      { input: { account: account.id, provider: PROVIDER, api_key: apiKey.trim(), base_url: url.trim() } },
      {
        onSuccess: () => {
          tell('The provider accepts the key. It is stored.');
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={before === undefined ? 'Store a provider key' : 'Replace the provider key'}
      action="Verify and store"
      busy={put.isPending}
      error={put.error}
      disabled={apiKey.trim() === '' || url.trim() === ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label="Resource URL" hint="Ends in /openai/v1, for example https://my-resource.example.com/openai/v1">
        {(id) => <TextInput id={id} type="url" value={url} onChange={setUrl} autoComplete="off" spellCheck={false} />}
      </Field>
      <Field label="Key" hint="It is sealed before it is stored, and never shown again.">
        {(id) => (
          <TextInput
            id={id}
            type="password"
            value={apiKey}
            onChange={setApiKey}
            autoComplete="off"
            spellCheck={false}
          />
        )}
      </Field>
    </FormDialog>
  );
}
