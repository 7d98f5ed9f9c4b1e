import type { ReactNode } from 'react';
import { CapFields } from '../../parts/cap-fields.tsx';
import { Field, TextArea, TextInput } from '../../parts/field.tsx';
import type { DraftFaults, KeyDraft } from './key-draft.ts';

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
      <CapFields
        label="Spend cap"
        hint="In dollars. Empty: no cap."
        error={faults.cap ?? null}
        draft={draft}
        onChange={(changed) => onChange({ ...draft, ...changed })}
      />
      <div className="flex gap-3">
        <Field label="Most that one call may cost" error={faults.maxCost ?? null} hint="In dollars. Empty: no ceiling.">
          {(id) => (
            <TextInput id={id} value={draft.maxCost} onChange={set('maxCost')} inputMode="decimal" placeholder="$" />
          )}
        </Field>
        <Field label="Expires after" error={faults.expires ?? null} hint="The end of this day in UTC. Empty: never.">
          {(id) => <TextInput id={id} type="date" value={draft.expires} onChange={set('expires')} />}
        </Field>
      </div>
      <Field label="Models" hint="One per line. Empty: all models.">
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
