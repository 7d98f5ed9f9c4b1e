import { type ReactNode, useState } from 'react';
import type { ManagementKey } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Checkbox, Field, Select, TextInput } from '../../parts/field.tsx';
import { OnceDialog } from '../../parts/once-dialog.tsx';
import { useViewer } from '../../shell/viewer.tsx';

type Role = Exclude<ManagementKey['role'], 'member'>;

const DAY = 86_400;
const DURATIONS = [
  { value: '1', label: '1 day' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
] as const;
/** Without that of a member, who has only what is their own: nothing belongs to a management key. */
const ACCOUNT_ROLES = [
  { value: 'owner', label: 'Owner: manages keys and people' },
  { value: 'viewer', label: 'Viewer: reads' },
] as const;
const OPERATOR_ROLE = [{ value: 'operator', label: 'Operator: everything, in all accounts' }] as const;

/** Creates a management key for the chosen account, or for the whole gateway, and shows its secret, once. */
export function MintManagementKeyDialog({ onClose }: { onClose(): void }): ReactNode {
  const { account } = useViewer();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>(account === null ? 'operator' : 'owner');
  const [days, setDays] = useState<string>('90');
  const [isReadOnly, setReadOnly] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const mint = useChange('POST /management-keys', { refreshes: ['GET /management-keys'], givesSecret: true });
  const submit = (): void => {
    const expires_at = Math.floor(Date.now() / 1000) + Number(days) * DAY;
    const place = account === null ? {} : { account: account.id };
    mint.mutate(
      { input: { ...place, name: name.trim(), role, read_only: isReadOnly, expires_at } },
      { onSuccess: (minted) => setSecret(minted.secret) },
    );
  };
  if (secret !== null)
    return (
      <OnceDialog title="Management key minted" secret={secret} onClose={onClose}>
        Scripts send it as <code className="font-mono text-small">Authorization: Bearer</code> to the management API.
        Copy it now: it is shown only here.
      </OnceDialog>
    );
  return (
    <FormDialog
      title={account === null ? 'New management key' : `New management key for “${account.name}”`}
      action="Mint key"
      busy={mint.isPending}
      error={mint.error}
      disabled={name.trim() === ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label="Name" hint="What uses it, like billing-export.">
        {(id) => <TextInput id={id} value={name} onChange={setName} maxLength={100} autoComplete="off" />}
      </Field>
      <Field label="May act as">
        {(id) => (
          <Select<Role>
            id={id}
            value={role}
            choices={account === null ? OPERATOR_ROLE : ACCOUNT_ROLES}
            onChange={setRole}
          />
        )}
      </Field>
      <Field label="Expires after">
        {(id) => <Select<string> id={id} value={days} choices={DURATIONS} onChange={setDays} />}
      </Field>
      <Checkbox label="Reads only, changes nothing" checked={isReadOnly} onChange={setReadOnly} />
    </FormDialog>
  );
}
