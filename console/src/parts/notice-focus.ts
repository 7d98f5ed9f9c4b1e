import type { KeyboardEvent } from 'react';

const NOTICES = '[data-notice]';
const DIALOG = '[role="dialog"][data-modal]';
const REACHABLE = 'a[href], button, input, select, textarea, [tabindex="0"]';

/** What Tab stops at, in order. */
function reachable(places: readonly Element[]): HTMLElement[] {
  return places
    .flatMap((place) => [...place.querySelectorAll<HTMLElement>(REACHABLE)])
    .filter((each) => !each.matches(':disabled, [tabindex="-1"]') && each.checkVisibility());
}

/** The dialog on top of all others; what is beside it cannot be used. */
function openDialog(): Element | null {
  return [...document.querySelectorAll(DIALOG)].at(-1) ?? null;
}

/**
 * A dialog keeps the focus, and a notice over it would be out of reach for the keyboard. So Tab goes from the last element of the
 * dialog to the notices, and from the last notice to the dialog. Both handle their keys with it.
 */
export function tabThroughNotices(event: KeyboardEvent): void {
  if (event.key !== 'Tab' || event.altKey || event.ctrlKey || event.metaKey) return;
  const dialog = openDialog();
  const notices = [...document.querySelectorAll(NOTICES)];
  if (dialog === null || notices.length === 0) return;
  const [inDialog, inNotices] = [reachable([dialog]), reachable(notices)];
  const isInDialog = dialog.contains(document.activeElement);
  const [here, there] = isInDialog ? [inDialog, inNotices] : [inNotices, inDialog];
  const edge = event.shiftKey ? here[0] : here.at(-1);
  if (edge !== undefined && document.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? there.at(-1) : there[0])?.focus();
}

/** When a notice goes away, the keyboard goes back to where it came from, or to what is left of that. */
export function focusAfterNotice(before: Element | null): void {
  const dialog = openDialog();
  const isThere = before instanceof HTMLElement && before.isConnected && (dialog === null || dialog.contains(before));
  const place = isThere ? before : dialog === null ? document.getElementById('page') : reachable([dialog])[0];
  place?.focus({ preventScroll: true });
}
