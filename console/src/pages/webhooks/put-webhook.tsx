import { type ReactNode, useState } from 'react';
import type { Alert, Webhook } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Checkbox, Field, TextInput } from '../../parts/field.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { OnceDialog } from '../../parts/once-dialog.tsx';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { kindLabel } from '../alerts/alert-words.ts';

const ACCOUNT_KINDS: readonly Alert['kind'][] = ['balance', 'key_cap', 'person_cap'];
/** Only the operator's webhooks get these. */
const OPERATOR_KINDS: readonly Alert['kind'][] = ['host', 'losses', 'disk', 'verify'];

const alertEvent = (kind: Alert['kind']) => ({ value: `alert.${kind}`, label: `alert: ${kindLabel(kind)}` });
const ACCOUNT_EVENTS = [
  { value: 'alert.*', label: 'every alert' },
  ...ACCOUNT_KINDS.map(alertEvent),
  { value: 'job.*', label: 'ends of jobs' },
  { value: 'group.*', label: 'ends of groups' },
];
const OPERATOR_EVENTS = OPERATOR_KINDS.map(alertEvent);

interface PutWebhookProps {
  /** Null for a new one. */
  readonly before: Webhook | null;
  onClose(): void;
}

/** A new webhook, whose secret is shown once, or another URL and other events for one that exists. */
export function PutWebhookDialog({ before, onClose }: PutWebhookProps): ReactNode {
  const { tell } = useNotices();
  const scope = useAccountInput();
  const [name, setName] = useState(before?.name ?? '');
  // Storing a webhook replaces all of it, so fields that nobody touched here are read again: somebody else may have changed them.
  const [typedUrl, setUrl] = useState<string | null>(null);
  const [chosenEvents, setEvents] = useState<readonly string[] | null | undefined>(undefined);
  const url = typedUrl ?? before?.url ?? '';
  const events = chosenEvents === undefined ? (before?.events ?? null) : chosenEvents;
  const [secret, setSecret] = useState<string | null>(null);
  const others = useApi('GET /webhooks', scope);
  // Storing it would replace the other one, and its receiver would no longer get events.
  const isNameOfOther = before === null && (others.data?.data ?? []).some((each) => each.name === name.trim());
  const put = useChange('PUT /webhooks/{name}', {
    refreshes: ['GET /webhooks', 'GET /webhooks/{name}'],
    givesSecret: before === null,
  });
  // Once it is being stored, the list may have this one already.
  const isTaken = isNameOfOther && !put.isPending;
  const submit = (): void =>
    put.mutate(
      { input: { ...scope, name: name.trim(), url: url.trim(), events } },
      {
        onSuccess: (webhook) => {
          if (webhook.secret !== null) return setSecret(webhook.secret);
          tell(`“${webhook.name}” was changed.`);
          onClose();
        },
      },
    );
  if (secret !== null)
    return (
      <OnceDialog title="Webhook created" secret={secret} onClose={onClose}>
        Events to “{name}” are signed with this secret. Copy it now: it is shown only here. Check the signature of every
        request before you believe it.
      </OnceDialog>
    );
  return (
    <FormDialog
      title={before === null ? 'New webhook' : `Change “${before.name}”`}
      action={before === null ? 'Create webhook' : 'Save changes'}
      busy={put.isPending}
      error={put.error}
      disabled={name.trim() === '' || isTaken || url.trim() === '' || events?.length === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      {before === null ? (
        <Field
          label="Name"
          hint="Letters, digits, dashes and underscores."
          error={isTaken ? 'There is a webhook of this name. Choose another name, or change that one.' : null}
        >
          {(id) => <TextInput id={id} value={name} onChange={setName} autoComplete="off" spellCheck={false} />}
        </Field>
      ) : null}
      <Field label="URL" hint="An https address that can be reached from the internet.">
        {(id) => (
          <TextInput id={id} type="url" value={url} onChange={setUrl} autoComplete="off" placeholder="https://" />
        )}
      </Field>
      <EventChoice events={events} onChange={setEvents} />
    </FormDialog>
  );
}

interface EventChoiceProps {
  /** Null for all. */
  readonly events: readonly string[] | null;
  onChange(events: readonly string[] | null): void;
}

function EventChoice({ events, onChange }: EventChoiceProps): ReactNode {
  const { account } = useViewer();
  const isAll = events === null;
  // What was chosen on the command line can be removed here.
  const offered = [
    ...ACCOUNT_EVENTS,
    ...OPERATOR_EVENTS.filter(({ value }) => account === null || events?.includes(value) === true),
  ];
  const toggle = (event: string, isOn: boolean): void =>
    onChange(isOn ? [...(events ?? []), event] : (events ?? []).filter((each) => each !== event));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 font-medium">Events</legend>
      <Checkbox
        label="All, including those of later versions"
        checked={isAll}
        onChange={(on) => onChange(on ? null : [])}
      />
      {isAll ? null : (
        <div className="grid grid-cols-2 gap-2 pl-6">
          {offered.map(({ value, label }) => (
            <Checkbox key={value} label={label} checked={events.includes(value)} onChange={(on) => toggle(value, on)} />
          ))}
        </div>
      )}
    </fieldset>
  );
}
