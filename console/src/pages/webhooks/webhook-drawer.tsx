import { type ReactNode, useState } from 'react';
import type { Webhook, WebhookDelivery } from '../../api/generated/routes.ts';
import { useChange, useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { useNotices } from '../../parts/notices.tsx';
import { OnceDialog } from '../../parts/once-dialog.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { PutWebhookDialog } from './put-webhook.tsx';
import { WebhookState } from './webhook-state.tsx';

const PAGE_ROWS = 20;
const GRACE_SECONDS = 86_400;

type Action = 'edit' | 'rotate' | 'remove';

/** One webhook: whether events arrive, and what was sent last. */
export function WebhookDrawer({ webhook, onClose }: { readonly webhook: Webhook; onClose(): void }): ReactNode {
  const { canManage } = useViewer();
  const [action, setAction] = useState<Action | null>(null);
  const close = (): void => setAction(null);
  return (
    <>
      <Drawer
        title={webhook.name}
        onClose={onClose}
        {...(canManage ? { footer: <WebhookActions webhook={webhook} onAction={setAction} /> } : {})}
      >
        <div className="flex flex-col gap-5">
          <WebhookFacts webhook={webhook} />
          <Deliveries name={webhook.name} />
        </div>
      </Drawer>
      {action === 'edit' ? <PutWebhookDialog before={webhook} onClose={close} /> : null}
      {action === 'rotate' ? <RotateDialog name={webhook.name} onClose={close} /> : null}
      {action === 'remove' ? (
        <RemoveDialog
          name={webhook.name}
          onClose={close}
          onRemoved={() => {
            close();
            onClose();
          }}
        />
      ) : null}
    </>
  );
}

function WebhookFacts({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const facts: readonly (Fact | null)[] = [
    ['State', <WebhookState key="state" webhook={webhook} />],
    [
      'URL',
      <span key="url" className="font-mono text-small break-all">
        {webhook.url}
      </span>,
    ],
    ['Events', webhook.events === null ? 'all' : webhook.events.join(', ')],
    ['Last delivered', <Ago key="last" at={webhook.last_delivered_at} none="never" />],
    webhook.failing_since === null ? null : ['Failing since', <Ago key="f" at={webhook.failing_since} />],
    ['Waiting', formatCount(webhook.pending)],
    webhook.dropped === 0 ? null : ['Given up', formatCount(webhook.dropped)],
    webhook.old_secret_expires_at === null
      ? null
      : ['Old secret signs until', <Ago key="old" at={webhook.old_secret_expires_at} isAhead />],
    ['Created', <Ago key="created" at={webhook.created} />],
  ];
  return <Facts facts={facts} />;
}

const TONES: Readonly<Record<WebhookDelivery['status'], Tone>> = {
  pending: 'neutral',
  delivered: 'good',
  failed: 'error',
};

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  {
    id: 'state',
    head: 'State',
    cell: ({ status, http_status, error }) => (
      <span className="flex items-center gap-2" title={error ?? undefined}>
        <Chip tone={TONES[status]}>{status}</Chip>
        {http_status === null ? null : <span className="text-muted">{http_status}</span>}
      </span>
    ),
  },
  { id: 'type', head: 'Event', cell: ({ type }) => type },
  { id: 'attempts', head: 'Attempts', align: 'right', cell: ({ attempts }) => formatCount(attempts) },
  { id: 'created', head: 'Time', align: 'right', cell: ({ created }) => <Ago at={created} /> },
];

function Deliveries({ name }: { readonly name: string }): ReactNode {
  const scope = useAccountInput();
  const deliveries = useRows('GET /webhooks/{name}/deliveries', { ...scope, name, limit: PAGE_ROWS });
  const [last] = deliveries.rows;
  return (
    <Panel title="Deliveries" actions={<Button onClick={deliveries.again}>Read again</Button>}>
      {last?.error == null ? null : <p className="px-4 pb-2 text-warning">{last.error}</p>}
      <RowTable
        label="Deliveries"
        bleed={false}
        pages={deliveries}
        columns={COLUMNS}
        idOf={({ id }) => id}
        empty={<p className="px-4 pb-4 text-muted">Nothing was sent yet. Send a test event to try it.</p>}
      />
    </Panel>
  );
}

function WebhookActions({
  webhook,
  onAction,
}: {
  readonly webhook: Webhook;
  onAction(action: Action): void;
}): ReactNode {
  const { tell, tellFailure } = useNotices();
  const scope = useAccountInput();
  const test = useChange('POST /webhooks/{name}/test', {
    refreshes: ['GET /webhooks', 'GET /webhooks/{name}/deliveries'],
  });
  const send = (): void =>
    test.mutate(
      { input: { ...scope, name: webhook.name } },
      {
        onSuccess: () => tell('The test event is on its way. Its delivery shows how it went.'),
        onError: ({ message }) => tellFailure(message),
      },
    );
  return (
    <>
      <Button busy={test.isPending} onClick={send}>
        Send a test
      </Button>
      <Button onClick={() => onAction('edit')}>Change</Button>
      <Button onClick={() => onAction('rotate')}>Rotate secret</Button>
      <Button tone="danger" onClick={() => onAction('remove')}>
        Remove
      </Button>
    </>
  );
}

function RotateDialog({ name, onClose }: { readonly name: string; onClose(): void }): ReactNode {
  const scope = useAccountInput();
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useChange('POST /webhooks/{name}/rotate', { refreshes: ['GET /webhooks'], givesSecret: true });
  if (secret !== null)
    return (
      <OnceDialog title="Secret rotated" secret={secret} onClose={onClose}>
        Copy the new secret now: it is shown only here. The old one signs too for one more day.
      </OnceDialog>
    );
  return (
    <ConfirmDialog
      title={`Rotate the secret of “${name}”`}
      action="Rotate secret"
      busy={rotate.isPending}
      error={rotate.error}
      onSubmit={() =>
        rotate.mutate(
          { input: { ...scope, name, grace_seconds: GRACE_SECONDS } },
          { onSuccess: (webhook) => setSecret(webhook.secret) },
        )
      }
      onClose={onClose}
    >
      Events are signed with both secrets for one day, so that the receiver can change over.
    </ConfirmDialog>
  );
}

function RemoveDialog(props: { readonly name: string; onClose(): void; onRemoved(): void }): ReactNode {
  const { name, onClose, onRemoved } = props;
  const { tell } = useNotices();
  const scope = useAccountInput();
  const remove = useChange('DELETE /webhooks/{name}', { refreshes: ['GET /webhooks'] });
  const onSuccess = (): void => {
    tell(`“${name}” is removed.`);
    onRemoved();
  };
  return (
    <ConfirmDialog
      title={`Remove “${name}”`}
      action="Remove webhook"
      busy={remove.isPending}
      error={remove.error}
      onSubmit={() => remove.mutate({ input: { ...scope, name } }, { onSuccess })}
      onClose={onClose}
    >
      Events that wait for it are deleted with it.
    </ConfirmDialog>
  );
}
