import { type ReactNode, useState } from 'react';
import type { Account } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { ConfirmDialog, FormDialog } from '../../parts/dialog.tsx';
import { Field, Select, TextInput } from '../../parts/field.tsx';
import { formatMoney } from '../../parts/money-format.ts';
import { useNotices } from '../../parts/notices.tsx';

export type AccountAction = 'rename' | 'suspend' | 'resume' | 'close';

interface AccountDialogProps {
  readonly account: Account;
  readonly action: AccountAction;
  onClose(): void;
}

const REFRESHES = { refreshes: ['GET /accounts', 'GET /accounts/{account}/balance'] } as const;

const KINDS: readonly { readonly value: Account['kind']; readonly label: string }[] = [
  { value: 'prepaid', label: 'Prepaid' },
  { value: 'unlimited', label: 'Unlimited' },
];
/** Below the choice and not in it, because a phone would cut it off. */
const KIND_HINTS: Readonly<Record<Account['kind'], string>> = {
  prepaid: 'Calls stop when the balance is used up. Add credit after it is created.',
  unlimited: 'Only the caps of its keys and members limit what it spends.',
};

export function NewAccountDialog({ onClose }: { onClose(): void }): ReactNode {
  const { tell } = useNotices();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Account['kind']>('prepaid');
  const create = useChange('POST /accounts', REFRESHES);
  const submit = (): void =>
    create.mutate(
      { input: { name: name.trim(), kind } },
      {
        onSuccess: (account) => {
          tell(`“${account.name}” is created.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title="New account"
      action="Create account"
      busy={create.isPending}
      error={create.error}
      disabled={name.trim() === ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label="Name">
        {(id) => <TextInput id={id} value={name} onChange={setName} maxLength={100} autoComplete="off" />}
      </Field>
      <Field label="Kind" hint={KIND_HINTS[kind]}>
        {(id) => <Select id={id} value={kind} choices={KINDS} onChange={(value) => setKind(value)} />}
      </Field>
    </FormDialog>
  );
}

export function AccountDialog(props: AccountDialogProps): ReactNode {
  if (props.action === 'rename') return <RenameDialog {...props} />;
  return props.action === 'close' ? <CloseDialog {...props} /> : <PauseDialog {...props} />;
}

function RenameDialog({ account, onClose }: AccountDialogProps): ReactNode {
  const { tell } = useNotices();
  const [name, setName] = useState(account.name);
  const rename = useChange('PATCH /accounts/{account}', REFRESHES);
  const submit = (): void =>
    rename.mutate(
      { input: { account: account.id, name: name.trim() }, version: account.version },
      {
        onSuccess: (renamed) => {
          tell(`The account is now called “${renamed.name}”.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={`Rename “${account.name}”`}
      action="Save name"
      busy={rename.isPending}
      error={rename.error}
      disabled={name.trim() === '' || name.trim() === account.name}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label="Name">
        {(id) => <TextInput id={id} value={name} onChange={setName} maxLength={100} autoComplete="off" />}
      </Field>
    </FormDialog>
  );
}

function PauseDialog({ account, action, onClose }: AccountDialogProps): ReactNode {
  const { tell } = useNotices();
  const suspend = useChange('POST /accounts/{account}/suspend', REFRESHES);
  const resume = useChange('POST /accounts/{account}/resume', REFRESHES);
  const isSuspending = action === 'suspend';
  const change = isSuspending ? suspend : resume;
  const onSuccess = ({ name, status }: Account): void => {
    tell(`“${name}” is ${status}.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={isSuspending ? `Suspend “${account.name}”` : `Resume “${account.name}”`}
      action={isSuspending ? 'Suspend account' : 'Resume account'}
      busy={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate({ input: { account: account.id } }, { onSuccess })}
      onClose={onClose}
    >
      {isSuspending
        ? 'New calls of the account are refused until you resume it. Running calls finish and are charged.'
        : 'The account can make calls again.'}
    </ConfirmDialog>
  );
}

function CloseDialog({ account, onClose }: AccountDialogProps): ReactNode {
  const { tell } = useNotices();
  const close = useChange('POST /accounts/{account}/close', REFRESHES);
  const submit = (): void =>
    close.mutate(
      { input: { account: account.id } },
      {
        onSuccess: ({ name, paid_out_nanousd }) => {
          tell(`“${name}” is closed. ${formatMoney(paid_out_nanousd)} was paid out.`);
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={`Close “${account.name}”`}
      action="Close account"
      typed={account.name}
      busy={close.isPending}
      error={close.error}
      onSubmit={submit}
      onClose={onClose}
    >
      New calls are refused at once, running ones end and are charged. The balance is entered as paid out, and stored
      provider keys are deleted. This cannot be undone. Receipts stay.
    </ConfirmDialog>
  );
}
