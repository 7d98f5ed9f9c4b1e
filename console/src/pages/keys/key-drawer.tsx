import { type ReactNode, useState } from 'react';
import type { ShownKey } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { isMissing, MissingDrawer } from '../../parts/missing-drawer.tsx';
import { Money } from '../../parts/money.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Ago } from '../../parts/time.tsx';
import { useMemberNames, useSeesMembers } from '../../shell/member-names.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { CapMeter } from './cap-meter.tsx';
import { EditKeyDialog } from './edit-key.tsx';
import { KeyStatus, LastUsed } from './key-status.tsx';
import { RotateKeyDialog } from './rotate-key.tsx';

type Action = 'edit' | 'rotate' | 'disable' | 'revoke';

/** One key: its terms, what it has spent, and what can be done with it. */
export function KeyDrawer({ keyId, onClose }: { readonly keyId: string; onClose(): void }): ReactNode {
  const key = useApi('GET /keys/{key}', { key: keyId }, { staleMs: 0 });
  const { canHaveKeys } = useViewer();
  const [action, setAction] = useState<Action | null>(null);
  const close = (): void => setAction(null);
  if (isMissing(key.error))
    return (
      <MissingDrawer title="Key" missing={`There is no key “${keyId}”`} list="keys" onClose={onClose}>
        The link may be mistyped, or the key belongs to somebody whose keys you may not see.
      </MissingDrawer>
    );
  return (
    <>
      <Drawer
        title={key.data?.name ?? 'Key'}
        onClose={onClose}
        {...(key.data !== undefined && canHaveKeys && key.data.status !== 'revoked'
          ? { footer: <KeyActions shownKey={key.data} onAction={setAction} /> }
          : {})}
      >
        {key.error === null ? null : <ErrorPanel error={key.error} again={() => void key.refetch()} />}
        {key.data === undefined && key.error === null ? <Skeleton className="h-64 w-full" /> : null}
        {key.data === undefined ? null : <KeyFacts shownKey={key.data} />}
      </Drawer>
      {key.data !== undefined && action === 'edit' ? <EditKeyDialog shownKey={key.data} onClose={close} /> : null}
      {key.data !== undefined && action === 'rotate' ? <RotateKeyDialog shownKey={key.data} onClose={close} /> : null}
      {key.data !== undefined && action === 'disable' ? <DisableDialog shownKey={key.data} onClose={close} /> : null}
      {key.data !== undefined && action === 'revoke' ? <RevokeDialog shownKey={key.data} onClose={close} /> : null}
    </>
  );
}

const PERSON_DISABLED = 'Its person is disabled, or no longer an owner or member here, and may not use it.';

function KeyFacts({ shownKey }: { readonly shownKey: ShownKey }): ReactNode {
  const { accounts } = useViewer();
  const memberOf = useMemberNames();
  const seesMembers = useSeesMembers();
  const { models, note, person, resets_at, old_secret_expires_at: oldUntil } = shownKey;
  const facts: readonly (Fact | null)[] = [
    ['State', <KeyStatus key="state" shownKey={shownKey} />],
    shownKey.person_disabled_at === null ? null : ['Disabled because', PERSON_DISABLED],
    [
      'Secret',
      <span key="hint" className="font-mono text-small">
        {shownKey.hint}
      </span>,
    ],
    [
      'Id',
      <span key="id" className="font-mono text-small">
        {shownKey.id}
      </span>,
    ],
    accounts.length > 1
      ? ['Account', accounts.find(({ id }) => id === shownKey.account)?.name ?? shownKey.account]
      : null,
    seesMembers ? ['Belongs to', person === null ? 'nobody' : memberOf(person)] : null,
    ['Spent', <CapMeter key="cap" shownKey={shownKey} />],
    resets_at === null ? null : ['Resets', <Ago key="resets" at={resets_at} zone="UTC" isAhead />],
    ['Held', <Money key="held" nanousd={shownKey.held_nanousd} />],
    [
      'Most for one call',
      shownKey.max_cost_nanousd === null ? 'no ceiling' : <Money key="max" nanousd={shownKey.max_cost_nanousd} />,
    ],
    [
      'Models',
      models === null ? (
        'all'
      ) : (
        <span key="models" className="font-mono text-small break-words">
          {models.join(', ')}
        </span>
      ),
    ],
    ['May', shownKey.permissions.join(', ').replaceAll('_', ' ')],
    ['Last used', <LastUsed key="used" shownKey={shownKey} />],
    ['Expires', <Ago key="expires" at={shownKey.expires_at} none="never" zone="UTC" isAhead />],
    oldUntil === null ? null : ['Old secret works until', <Ago key="old" at={oldUntil} isAhead />],
    ['Created', <Ago key="created" at={shownKey.created} />],
    note === null ? null : ['Note', note],
  ];
  return (
    <div className="flex flex-col gap-4">
      <Facts facts={facts} />
      <p className="flex gap-4">
        <PageLink to="/requests" search={{ key: shownKey.id }} className="font-medium text-accent hover:underline">
          Its requests
        </PageLink>
        <PageLink
          to="/usage"
          search={{ key: shownKey.id, by: 'model' }}
          className="font-medium text-accent hover:underline"
        >
          Its usage
        </PageLink>
      </p>
    </div>
  );
}

function KeyActions({
  shownKey,
  onAction,
}: {
  readonly shownKey: ShownKey;
  onAction(action: Action): void;
}): ReactNode {
  const { canManage } = useViewer();
  const { tell, tellFailure } = useNotices();
  const enable = useChange('POST /keys/{key}/enable', { refreshes: ['GET /keys', 'GET /keys/{key}'] });
  return (
    <>
      <Button onClick={() => onAction('edit')}>Change</Button>
      <Button onClick={() => onAction('rotate')}>Rotate</Button>
      {shownKey.status === 'disabled' && shownKey.disabled_at !== null && canManage ? (
        <Button
          busy={enable.isPending}
          onClick={() =>
            enable.mutate(
              { input: { key: shownKey.id } },
              {
                onSuccess: ({ name, status }) =>
                  tell(`“${name}” ${status === 'active' ? 'works again' : `is ${status}`}.`),
                onError: ({ message }) => tellFailure(message),
              },
            )
          }
        >
          Enable
        </Button>
      ) : null}
      {shownKey.status === 'active' ? <Button onClick={() => onAction('disable')}>Disable</Button> : null}
      <Button tone="danger" onClick={() => onAction('revoke')}>
        Revoke key
      </Button>
    </>
  );
}

function DisableDialog({ shownKey, onClose }: { readonly shownKey: ShownKey; onClose(): void }): ReactNode {
  const { tell } = useNotices();
  const disable = useChange('POST /keys/{key}/disable', { refreshes: ['GET /keys', 'GET /keys/{key}'] });
  const onSuccess = ({ name }: { readonly name: string }): void => {
    tell(`“${name}” is disabled.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Disable “${shownKey.name}”`}
      action="Disable key"
      busy={disable.isPending}
      error={disable.error}
      onSubmit={() => disable.mutate({ input: { key: shownKey.id } }, { onSuccess })}
      onClose={onClose}
    >
      New calls with this key are refused until an owner enables it again. Running calls end.
    </ConfirmDialog>
  );
}

function RevokeDialog({ shownKey, onClose }: { readonly shownKey: ShownKey; onClose(): void }): ReactNode {
  const { tell } = useNotices();
  const revoke = useChange('POST /keys/{key}/revoke', { refreshes: ['GET /keys', 'GET /keys/{key}'] });
  const onSuccess = ({ name }: { readonly name: string }): void => {
    tell(`“${name}” is revoked.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Revoke “${shownKey.name}”`}
      action="Revoke key"
      typed={shownKey.name}
      busy={revoke.isPending}
      error={revoke.error}
      onSubmit={() => revoke.mutate({ input: { key: shownKey.id } }, { onSuccess })}
      onClose={onClose}
    >
      The key stops working for good. This cannot be undone. Its receipts stay.
    </ConfirmDialog>
  );
}
