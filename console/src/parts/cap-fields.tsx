import type { ReactNode } from 'react';
import { Field, Select, TextInput } from './field.tsx';

type CapWindow = 'day' | 'week' | 'month' | 'lifetime';

/** A spend cap in dollars, empty for none, and the time after which it starts again. */
interface CapDraft {
  readonly cap: string;
  readonly window: CapWindow;
}

const WINDOWS: readonly { readonly value: CapWindow; readonly label: string; readonly resets: string }[] = [
  { value: 'day', label: 'a day', resets: 'Resets at midnight UTC.' },
  { value: 'week', label: 'a week', resets: 'Resets on Monday, 0:00 UTC.' },
  { value: 'month', label: 'a month', resets: 'Resets on the first, 0:00 UTC.' },
  { value: 'lifetime', label: 'in total', resets: 'Never resets.' },
];

interface CapFieldsProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string | null;
  readonly draft: CapDraft;
  onChange(changed: Partial<CapDraft>): void;
}

export function CapFields({ label, hint, error, draft, onChange }: CapFieldsProps): ReactNode {
  return (
    <div className="flex gap-3">
      <Field label={label} hint={hint} error={error}>
        {(id) => (
          <TextInput
            id={id}
            value={draft.cap}
            onChange={(cap) => onChange({ cap })}
            inputMode="decimal"
            placeholder="$"
          />
        )}
      </Field>
      <Field label="Per" hint={WINDOWS.find(({ value }) => value === draft.window)?.resets}>
        {(id) => (
          <Select
            id={id}
            value={draft.window}
            choices={WINDOWS}
            onChange={(window) => onChange({ window })}
            disabled={draft.cap === ''}
          />
        )}
      </Field>
    </div>
  );
}
