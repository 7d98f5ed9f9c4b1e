import { useRef } from 'react';

interface FocusHandlers {
  onOpenAutoFocus(event: Event): void;
  onCloseAutoFocus(event: Event): void;
}

/** Gives the focus back to whatever had it before a dialog opened. Radix does so only if its own trigger opened it. */
export function useReturnFocus(onOpen: (event: Event) => void = () => undefined): FocusHandlers {
  const opener = useRef<HTMLElement>(null);
  return {
    onOpenAutoFocus: (event) => {
      opener.current = openerOf(document.activeElement);
      onOpen(event);
    },
    onCloseAutoFocus: (event) => {
      event.preventDefault();
      // What the dialog has opened, or whatever somebody has gone to meanwhile, keeps the focus.
      if (document.activeElement !== document.body) return;
      opener.current?.focus();
      if (document.activeElement === document.body) placeLeft()?.focus({ preventScroll: true });
    },
  };
}

/** A menu closes when one of its items opens a dialog, so the button of the menu gets the focus back. */
function openerOf(element: Element | null): HTMLElement | null {
  const menu = element?.closest('[role="menu"]') ?? null;
  const opener = menu === null ? element : document.getElementById(menu.getAttribute('aria-labelledby') ?? '');
  return opener instanceof HTMLElement ? opener : null;
}

/** A button like “Disable” goes away with what it has done; the drawer or the page that it was in is still there. */
function placeLeft(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[role="dialog"]') ?? document.getElementById('page');
}
