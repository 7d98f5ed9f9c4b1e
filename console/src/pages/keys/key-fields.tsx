import type { ReactNode } from 'react';
import { Field, Select, TextArea, TextInput } from '../../parts/field.tsx';
import type { DraftFaults, KeyDraft, Window } from './key-draft.ts';

const WINDOWS: readonly { readonly value: Window; readonly label: string }[] = [
  { value: 'day', label: 'a day' },
  { value: 'week', label: 'a week' },
  { value: 'month', label: 'a month' },
  { value: 'lifetime', label: 'in total' },
];

interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly faults: DraftFaults;
  onChange(draft: KeyDraft): void;
}

/** The terms of a key, for a new one and for one that is changed. */
export function KeyFields({ draft, faults, onChange }: KeyFieldsProps): ReactNode {
  const set =
    <Name extends keyof KeyDraft>(name: Name) =>
    (value: KeyDraft[Name]): void =>
      onChange({ ...draft, [name]: value });
  return (
    <>
      <Field label="Name" error={faults.name ?? null} hint="Which program or person uses it.">
        {(id) => <TextInput id={id} value={draft.name} onChange={set('name')} maxLength={100} autoComplete="off" />}
      </Field>
      <div className="flex gap-3">
        <Field label="Spend cap" error={faults.cap ?? null} hint="In dollars. Empty: no cap.">
          {(id) => <TextInput id={id} value={draft.cap} onChange={set('cap')} inputMode="decimal" placeholder="$" />}
        </Field>
        <Field label="Per" hint="Resets at midnight UTC.">
          {(id) => (
            <Select
              id={id}
              value={draft.window}
              choices={WINDOWS}
              onChange={set('window')}
              disabled={draft.cap === ''}
            />
          )}
        </Field>
      </div>
      <div className="flex gap-3">
        <Field label="Most that one call may cost" error={faults.maxCost ?? null} hint="In dollars. Empty: no ceiling.">
          {(id) => (
            <TextInput id={id} value={draft.maxCost} onChange={set('maxCost')} inputMode="decimal" placeholder="$" />
          )}
        </Field>
        <Field label="Expires after" error={faults.expires ?? null} hint="Empty: never.">
          {(id) => <TextInput id={id} type="date" value={draft.expires} onChange={set('expires')} />}
        </Field>
      </div>
      <Field label="Models" hint="One a line. Empty: all models.">
        {(id) => (
          <TextArea
            id={id}
            value={draft.models}
            onChange={set('models')}
            rows={2}
            spellCheck={false}
            className="min-h-14 font-mono text-small"
          />
        )}
      </Field>
      <Field label="Note">
        {(id) => <TextInput id={id} value={draft.note} onChange={set('note')} maxLength={500} autoComplete="off" />}
      </Field>
    </>
  );
}
