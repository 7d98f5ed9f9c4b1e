import type { ReactNode } from 'react';
import type { Choice } from './field.tsx';
import { Icon } from './icons.tsx';

interface FilterProps {
  readonly label: string;
  readonly value: string;
  /** True for a choice that leaves nothing out; else the first value means no filter. */
  readonly isPlain?: boolean;
  readonly choices: readonly Choice[];
  onChange(value: string): void;
}

/** A filter as a chip: what it filters by, and the value in bold. */
export function Filter({ label, value, choices, isPlain = false, onChange }: FilterProps): ReactNode {
  const chosen = choices.find((choice) => choice.value === value);
  const isSet = !isPlain && value !== choices[0]?.value;
  return (
    <span
      className={`relative inline-flex h-7 max-w-full items-center gap-1.5 rounded-control border bg-panel px-2.5 focus-within:outline-2 focus-within:outline-accent hover:bg-raised ${isSet ? 'border-accent' : 'border-line-strong'}`}
    >
      <span aria-hidden className="text-muted">
        {label}
      </span>
      <span aria-hidden className="truncate font-medium">
        {chosen?.label ?? value}
      </span>
      <Icon name="chevron" size={12} />
      <select
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="absolute inset-0 opacity-0"
      >
        {chosen === undefined ? <option value={value}>{value}</option> : null}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </span>
  );
}
