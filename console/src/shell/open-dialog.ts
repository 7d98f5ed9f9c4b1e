import { useEffect, useRef } from 'react';
import { useFilters } from './search.ts';

/**
 * Whether the dialog that the address names is shown. If somebody may no longer make the change, because their role or the
 * account is another one by now, it stays: it says why the change was refused.
 */
export function useOpenDialog(name: string, isAllowed: boolean): boolean {
  const { search } = useFilters();
  const wasOpen = useRef(false);
  const isOpen = search.dialog === name && (isAllowed || wasOpen.current);
  useEffect(() => {
    wasOpen.current = isOpen;
  }, [isOpen]);
  return isOpen;
}
