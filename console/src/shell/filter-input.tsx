import type { ReactNode } from 'react';
import { TextInput } from '../parts/field.tsx';
import { useFilters } from './search.ts';

interface FilterInputProps {
  /** Its name in the address. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  readonly type?: 'search' | 'date';
  readonly width?: string;
}

/** A filter that is typed. What is typed replaces the address, so that "back" does not go through every letter. */
export function FilterInput({ name, label, width = '!w-72', type = 'search', ...rest }: FilterInputProps): ReactNode {
  const { search, change } = useFilters();
  return (
    <TextInput
      {...rest}
      type={type}
      aria-label={label}
      value={search[name] ?? ''}
      onChange={(value) => change({ [name]: value }, { replace: true })}
      className={`!h-7 ${width}`}
    />
  );
}
