import { type ReactNode, useState } from 'react';
import type { MintedKey } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { EMPTY_DRAFT, faultsOf, termsOf } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';
import { SecretDialog } from './secret-dialog.tsx';

/** Creates a key, then shows its secret, once. */
export function MintKeyDialog({ onClose }: { onClose(): void }): ReactNode {
  const { account, accounts } = useViewer();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [accountId, setAccountId] = useState(account?.id ?? accounts[0]?.id ?? '');
  const [isChecked, setChecked] = useState(false);
  const [minted, setMinted] = useState<MintedKey | null>(null);
  const mint = useChange('POST /keys', { refreshes: ['GET /keys'], givesSecret: true });
  const faults = faultsOf(draft);
  const submit = (): void => {
    setChecked(true);
    if (Object.keys(faults).length > 0) return;
    mint.mutate({ input: { account: accountId, ...termsOf(draft) } }, { onSuccess: setMinted });
  };
  if (minted !== null)
    return <SecretDialog title="Key minted" secret={minted.secret} minted={minted} onClose={onClose} />;
  return (
    <FormDialog
      title="New key"
      action="Mint key"
      busy={mint.isPending}
      error={mint.error}
      disabled={accountId === ''}
      onSubmit={submit}
      onClose={onClose}
    >
      {account === null ? (
        <Field
          label="Account"
          error={accounts.length === 0 ? 'A key belongs to an account. Create one on the page Accounts first.' : null}
        >
          {(id) => (
            <Select
              id={id}
              value={accountId}
              onChange={setAccountId}
              choices={accounts.map((each) => ({ value: each.id, label: each.name }))}
            />
          )}
        </Field>
      ) : null}
      <KeyFields draft={draft} faults={isChecked ? faults : {}} onChange={setDraft} />
    </FormDialog>
  );
}
