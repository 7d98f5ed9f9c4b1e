import { type ReactNode, useState } from 'react';
import type { Invited, PersonWithRoles } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { ConfirmDialog, FormDialog } from '../../parts/dialog.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { useNotices } from '../../parts/notices.tsx';

export type PersonAction = 'rename' | 'reset' | 'promote' | 'demote' | 'sign-out' | 'disable' | 'enable';

interface PersonDialogProps {
  readonly action: PersonAction;
  readonly person: PersonWithRoles;
  onLink(invited: Invited): void;
  onClose(): void;
}

const REFRESHES = [
  ...(['GET /people', 'GET /people/{person}', 'GET /people/{person}/sessions'] as const),
  ...(['GET /keys', 'GET /management-keys'] as const),
];

export function PersonDialog(props: PersonDialogProps): ReactNode {
  return props.action === 'rename' ? <RenameDialog {...props} /> : <ConfirmAction {...props} />;
}

function RenameDialog({ person, onClose }: PersonDialogProps): ReactNode {
  const { tell } = useNotices();
  const [name, setName] = useState(person.name);
  const rename = useChange('PATCH /people/{person}', { refreshes: REFRESHES });
  const submit = (): void =>
    rename.mutate(
      { input: { person: person.id, name: name.trim() }, version: person.version },
      {
        onSuccess: (changed) => {
          tell(`The name is now ${changed.name}.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={`Rename ${person.name}`}
      action="Save name"
      busy={rename.isPending}
      error={rename.error}
      disabled={name.trim() === '' || name.trim() === person.name}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label="Name">{(id) => <TextInput id={id} value={name} onChange={setName} maxLength={100} />}</Field>
    </FormDialog>
  );
}

interface Words {
  readonly title: string;
  readonly button: string;
  readonly text: string;
  readonly done: string;
}

function wordsFor(action: Exclude<PersonAction, 'rename'>, name: string): Words {
  const words: Readonly<Record<Exclude<PersonAction, 'rename'>, Words>> = {
    reset: {
      title: `New password for ${name}`,
      button: 'Make the link',
      text: 'Makes a link with which they set a new password. Once it is used, their sessions, single sign-on and the management keys they minted end. Until then nothing ends: to end their sessions now, sign them out everywhere.',
      done: 'The link was created.',
    },
    promote: {
      title: `Make ${name} an operator`,
      button: 'Make operator',
      text: 'An operator sees and changes everything, in all accounts.',
      done: `${name} is an operator.`,
    },
    demote: {
      title: `Take the operator role from ${name}`,
      button: 'Take the role away',
      text: 'They keep their roles in accounts. Except in accounts that they own, the management keys they minted are revoked, and their own keys lose their permissions.',
      done: `${name} is no longer an operator.`,
    },
    'sign-out': {
      title: `Sign ${name} out everywhere`,
      button: 'Sign out',
      text: 'All their sessions end. They can sign in again.',
      done: `${name} is signed out.`,
    },
    disable: {
      title: `Disable ${name}`,
      button: 'Disable person',
      text: 'Their sessions end, their keys stop working, and the management keys they minted are revoked.',
      done: `${name} is disabled.`,
    },
    enable: {
      title: `Enable ${name}`,
      button: 'Enable person',
      text: 'They can sign in again, and their keys work again.',
      done: `${name} can sign in again.`,
    },
  };
  return words[action];
}

function ConfirmAction({ action, person, onLink, onClose }: PersonDialogProps): ReactNode {
  const { tell } = useNotices();
  const refreshes = { refreshes: REFRESHES };
  const changes = {
    reset: useChange('POST /people/{person}/reset', { ...refreshes, givesSecret: true }),
    role: useChange('PATCH /people/{person}', refreshes),
    'sign-out': useChange('POST /people/{person}/sign-out', refreshes),
    disable: useChange('POST /people/{person}/disable', refreshes),
    enable: useChange('POST /people/{person}/enable', refreshes),
  };
  if (action === 'rename') return null;
  const words = wordsFor(action, person.name);
  const isRole = action === 'promote' || action === 'demote';
  const change = changes[isRole ? 'role' : action];
  const finish = (): void => {
    tell(words.done);
    onClose();
  };
  const submit = (): void => {
    const input = { person: person.id };
    if (isRole) changes.role.mutate({ input: { ...input, operator: action === 'promote' } }, { onSuccess: finish });
    else if (action === 'reset')
      changes.reset.mutate(
        { input },
        {
          onSuccess: (invited) => {
            onLink(invited);
            onClose();
          },
        },
      );
    else changes[action].mutate({ input }, { onSuccess: finish });
  };
  return (
    <ConfirmDialog
      title={words.title}
      action={words.button}
      busy={change.isPending}
      error={change.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {words.text}
    </ConfirmDialog>
  );
}
