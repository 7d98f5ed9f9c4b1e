import { useRef } from 'react';

interface FocusHandlers {
  onOpenAutoFocus(event: Event): void;
  onCloseAutoFocus(event: Event): void;
}

/** Gives the focus back to whatever had it before a dialog opened. Radix does so only if its own trigger opened it. */
export function useReturnFocus(onOpen: (event: Event) => void = () => undefined): FocusHandlers {
  const opener = useRef<Element>(null);
  return {
    onOpenAutoFocus: (event) => {
      opener.current = document.activeElement;
      onOpen(event);
    },
    onCloseAutoFocus: (event) => {
      event.preventDefault();
      if (opener.current instanceof HTMLElement) opener.current.focus();
    },
  };
}
