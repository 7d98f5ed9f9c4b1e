import type { ReactNode } from 'react';
import type { Choice } from './field.tsx';

interface SegmentedProps<Value extends string> {
  /** What is chosen, for screen readers. */
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  onChange(value: Value): void;
}

/** A few choices side by side, one of them pressed. */
export function Segmented<Value extends string>({ label, value, choices, onChange }: SegmentedProps<Value>): ReactNode {
  return (
    <fieldset
      aria-label={label}
      className="inline-flex h-7 items-center rounded-control border border-line-strong bg-panel"
    >
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
          className={`h-full px-2.5 text-body first:rounded-l-[6px] last:rounded-r-[6px] ${choice.value === value ? 'bg-raised font-medium text-text' : 'text-muted hover:text-text'}`}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  );
}
