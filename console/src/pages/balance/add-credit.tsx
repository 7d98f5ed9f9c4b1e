import { type ReactNode, useState } from 'react';
import type { Account } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Checkbox, Field, TextInput } from '../../parts/field.tsx';
import { formatMoney, parseDollars } from '../../parts/money-format.ts';
import { useNotices } from '../../parts/notices.tsx';

/** Adds money to an account, or takes it away. The same reference is credited once, so that a second click costs nothing. */
export function AddCreditDialog({ account, onClose }: { readonly account: Account; onClose(): void }): ReactNode {
  const { tell } = useNotices();
  const [amount, setAmount] = useState('');
  const [takesAway, setTakesAway] = useState(false);
  const [reference, setReference] = useState('');
  const [ownReference] = useState(newReference);
  const [note, setNote] = useState('');
  const [isChecked, setChecked] = useState(false);
  const credit = useChange('POST /accounts/{account}/credits', {
    refreshes: ['GET /accounts', 'GET /accounts/{account}/balance', 'GET /accounts/{account}/entries'],
  });
  const nanousd = parseDollars(amount);
  const isWrong = nanousd === null || nanousd === 0n;
  const submit = (): void => {
    setChecked(true);
    if (isWrong) return;
    const input = {
      account: account.id,
      amount_nanousd: takesAway ? -nanousd : nanousd,
      reference: reference.trim() || ownReference,
      ...(note.trim() === '' ? {} : { note: note.trim() }),
    };
    credit.mutate(
      { input },
      {
        onSuccess: ({ repeated, balance_nanousd }) => {
          tell(
            `${outcomeOf({ repeated, takesAway, reference: reference.trim() })} The balance is ${formatMoney(balance_nanousd)}.`,
          );
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={`Add credit to “${account.name}”`}
      action={takesAway ? 'Take credit away' : 'Add credit'}
      busy={credit.isPending}
      error={inOwnTerms(credit.error, ownReference)}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label="Amount"
        hint="In dollars."
        error={isChecked && isWrong ? 'Enter an amount in dollars, like 50 or 12.50.' : null}
      >
        {(id) => (
          <TextInput
            id={id}
            value={amount}
            onChange={setAmount}
            inputMode="decimal"
            placeholder="$"
            autoComplete="off"
          />
        )}
      </Field>
      <Checkbox label="Take this amount away instead" checked={takesAway} onChange={setTakesAway} />
      <Field label="Reference" hint="For example the invoice. The same reference is credited only once.">
        {(id) => <TextInput id={id} value={reference} onChange={setReference} maxLength={100} autoComplete="off" />}
      </Field>
      <Field label="Note">
        {(id) => <TextInput id={id} value={note} onChange={setNote} maxLength={500} autoComplete="off" />}
      </Field>
    </FormDialog>
  );
}

/** A repeated credit without a reference is one whose first answer was lost: nobody has typed what it is known by. */
function outcomeOf({ repeated, takesAway, reference }: SentCredit): string {
  if (!repeated) return takesAway ? 'Taken away.' : 'Credited.';
  if (reference !== '') return `“${reference}” was recorded before; nothing was changed.`;
  return `The first attempt had been recorded, so nothing was ${takesAway ? 'taken away' : 'added'} again.`;
}

interface SentCredit {
  readonly repeated: boolean;
  readonly takesAway: boolean;
  /** Empty if somebody typed none. */
  readonly reference: string;
}

/** Names no reference that nobody has typed. The same one with another amount means that the first attempt was recorded. */
function inOwnTerms(error: Error | null, ownReference: string): Error | string | null {
  if (error === null || !error.message.includes(ownReference)) return error;
  return 'An earlier attempt in this form was recorded with a different amount. Nothing was changed now. Close the form and look at the entries before you add more.';
}

/** For a credit that was given none: if its answer is lost, the same dialog sends the same credit again. */
function newReference(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
