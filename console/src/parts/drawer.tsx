import * as Dialog from '@radix-ui/react-dialog';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from './icon-button.tsx';
import { useWindowTitle } from './window-title.ts';

interface DrawerProps {
  readonly title: string;
  /** For the window, if the title does not say enough: it is also the name of a printed file. */
  readonly windowTitle?: string;
  /** For screen readers, if the title does not say enough. */
  readonly description?: string;
  readonly hint?: ReactNode;
  readonly footer?: ReactNode;
  readonly children: ReactNode;
  onClose(): void;
  onKeyDown?(event: KeyboardEvent<HTMLDivElement>): void;
}

/** A panel at the right side. What is beside it stays usable, so that another row can be opened. */
export function Drawer(props: DrawerProps): ReactNode {
  const { title, windowTitle = title, description, hint, footer, children, onClose, onKeyDown } = props;
  const openRow = useOpenRow();
  useWindowTitle('drawer', windowTitle);
  return (
    <Dialog.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          tabIndex={-1}
          data-drawer
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            (event.currentTarget as HTMLElement).focus();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            // Another drawer, or whatever somebody has gone to meanwhile, keeps the focus.
            if (document.activeElement === document.body) openRow.current?.focus({ preventScroll: true });
          }}
          onInteractOutside={(event) => event.preventDefault()}
          onKeyDown={onKeyDown}
          className="fixed inset-y-0 right-0 z-40 flex w-full animate-[drawer-in_0.16s_ease-out] flex-col border-l border-line bg-panel shadow-drawer outline-none wide:w-[452px] print:static print:w-full print:border-0 print:shadow-none"
        >
          <div className="flex min-h-14 items-center justify-between gap-3 py-3 pr-4 pl-6">
            <Dialog.Title className="min-w-0 text-title font-semibold break-words">{title}</Dialog.Title>
            {description === undefined ? null : (
              <Dialog.Description className="sr-only">{description}</Dialog.Description>
            )}
            <div className="flex items-center gap-2 text-muted">
              {hint}
              <Dialog.Close asChild>
                <IconButton icon="close" label="Close" />
              </Dialog.Close>
            </div>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-6 pb-6 print:overflow-visible">{children}</div>
          {footer === undefined ? null : (
            <div className="flex flex-wrap gap-2 border-t border-line px-6 py-3 print:hidden">{footer}</div>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** The row of the table that the drawer is about, which the keyboard goes back to. Arrow keys may have moved it. */
function useOpenRow(): { readonly current: HTMLElement | null } {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    row.current = document.querySelector<HTMLElement>('tr[data-row][aria-current="true"]') ?? row.current;
  });
  return row;
}
