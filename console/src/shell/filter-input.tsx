import { type RouterHistory, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
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

/**
 * A filter that is typed. What is typed replaces the address, so that "back" does not go through every letter. The address
 * follows a moment later, so the field shows its own text while somebody types: else the cursor would jump to the end.
 */
export function FilterInput({
  name,
  label,
  width = 'wide:!w-72',
  type = 'search',
  ...rest
}: FilterInputProps): ReactNode {
  const { search, change } = useFilters();
  const address = search[name] ?? '';
  const [text, setText] = useState(address);
  /** What was typed and has not arrived in the address yet, the oldest first. */
  const typed = useRef<string[]>([]);
  const history: RouterHistory = useRouter().history;
  // Typing replaces the address: whatever else changes it is not to be taken for an earlier text that arrives late.
  useEffect(
    () =>
      history.subscribe(({ action }) => {
        if (action.type !== 'REPLACE') typed.current = [];
      }),
    [history],
  );
  useEffect(() => {
    const at = typed.current.indexOf(address);
    typed.current = at === -1 ? [] : typed.current.slice(at + 1);
    // Something else changed the address: a link, or the browser's Back.
    if (at === -1) setText(address);
  }, [address]);
  return (
    <TextInput
      {...rest}
      type={type}
      aria-label={label}
      value={text}
      onChange={(value) => {
        setText(value);
        typed.current.push(value);
        change({ [name]: value }, { replace: true });
      }}
      className={`!h-7 ${width}`}
    />
  );
}
