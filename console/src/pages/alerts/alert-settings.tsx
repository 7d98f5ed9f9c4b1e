import { type ReactNode, useState } from 'react';
import type { Account, AlertSettings } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Dialog, FormDialog } from '../../parts/dialog.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Field, TextInput } from '../../parts/field.tsx';
import { parseDollars, writeDollars } from '../../parts/money-format.ts';
import { useNotices } from '../../parts/notices.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';

/** A cap that is used up has an alert of its own. */
const PERCENT_MAX = 99;

interface AlertSettingsProps {
  readonly account: Account;
  onClose(): void;
}

/** When the account is alerted. */
export function AlertSettingsDialog({ account, onClose }: AlertSettingsProps): ReactNode {
  const settings = useApi('GET /accounts/{account}/alert-settings', { account: account.id }, { staleMs: 0 });
  if (settings.data === undefined)
    return (
      <Dialog title="Thresholds" onClose={onClose}>
        {settings.error === null ? <Skeleton className="h-32 w-full" /> : <ErrorPanel error={settings.error} />}
      </Dialog>
    );
  return <SettingsForm account={account} before={settings.data} onClose={onClose} />;
}

function SettingsForm({
  account,
  before: current,
  onClose,
}: AlertSettingsProps & { readonly before: AlertSettings }): ReactNode {
  const { tell } = useNotices();
  // The page reads the settings again while the form is open; what differs is judged by what the form began with.
  const [before] = useState(current);
  const [below, setBelow] = useState(
    before.balance_below_nanousd === null ? '' : writeDollars(before.balance_below_nanousd),
  );
  const [percent, setPercent] = useState(before.cap_percent === null ? '' : String(before.cap_percent));
  const save = useChange('PATCH /accounts/{account}/alert-settings', {
    refreshes: ['GET /accounts/{account}/alert-settings', 'GET /alerts'],
  });
  const amount = below.trim() === '' ? null : parseDollars(below);
  const isAmountWrong = below.trim() !== '' && amount === null;
  const share = percent.trim() === '' ? null : Number(percent);
  const isShareWrong = share !== null && !(Number.isInteger(share) && share >= 0 && share <= PERCENT_MAX);
  const changes = {
    ...(amount === before.balance_below_nanousd ? {} : { balance_below_nanousd: amount }),
    ...(share === before.cap_percent ? {} : { cap_percent: share }),
  };
  const submit = (): void =>
    save.mutate(
      { input: { account: account.id, ...changes } },
      {
        onSuccess: () => {
          tell('The thresholds were changed.');
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={`Thresholds of “${account.name}”`}
      action="Save thresholds"
      busy={save.isPending}
      error={save.error}
      disabled={isAmountWrong || isShareWrong}
      onSubmit={Object.keys(changes).length === 0 ? onClose : submit}
      onClose={onClose}
    >
      <Field
        label="Alert when the balance is below"
        hint="In dollars. 0: never. Empty: the gateway’s setting."
        error={isAmountWrong ? 'Enter an amount in dollars, like 20.' : null}
      >
        {(id) => <TextInput id={id} value={below} onChange={setBelow} inputMode="decimal" placeholder="$" />}
      </Field>
      <Field
        label="Alert when this much of a cap is spent"
        hint="In percent, for keys and people; a second alert follows when the cap is used up. 0: never. Empty: the gateway’s setting."
        error={isShareWrong ? `A whole number from 0 to ${PERCENT_MAX}.` : null}
      >
        {(id) => <TextInput id={id} value={percent} onChange={setPercent} inputMode="numeric" placeholder="%" />}
      </Field>
    </FormDialog>
  );
}
