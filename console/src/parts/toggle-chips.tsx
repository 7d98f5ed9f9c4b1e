import type { ReactNode } from 'react';
import type { Choice } from './field.tsx';

interface ToggleChipsProps {
  /** What they filter by, for screen readers. */
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  onChange(chosen: readonly string[]): void;
}

/** Several choices, any number of them pressed. */
export function ToggleChips({ label, choices, chosen, onChange }: ToggleChipsProps): ReactNode {
  return (
    <fieldset aria-label={label} className="flex flex-wrap gap-1">
      {choices.map(({ value, label: name }) => {
        const isOn = chosen.includes(value);
        return (
          <button
            key={value}
            type="button"
            aria-pressed={isOn}
            onClick={() => onChange(isOn ? chosen.filter((each) => each !== value) : [...chosen, value])}
            className={`h-7 rounded-control border px-2 text-small ${isOn ? 'border-accent bg-accent-soft font-medium text-accent' : 'border-line-strong bg-panel text-muted hover:text-text'}`}
          >
            {name}
          </button>
        );
      })}
    </fieldset>
  );
}
